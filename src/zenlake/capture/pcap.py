"""PcapReader: the classic capture format, with micro- or nanoseconds, in either byte order.

     0        4        8        12       16       20       24
    | magic  |version | zone   | figures| snap   | link   |       the file, once
    | seconds|fraction|captured|original| data ...                each record

The format has no markers between records: after a wrong length the reader is at a random place.
So a header that contradicts itself, or a time far from all others, is accepted only if a valid
record follows; else the reader searches for the next two valid records in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import Final

from zenlake.capture.input import Input
from zenlake.capture.packet import Packet, Skipped
from zenlake.errors import CaptureError
from zenlake.limits import CAPTURE_RESYNC_BYTES_MAX, PACKET_BYTES_MAX

MAGICS: Final = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
}
"""Byte order and parts of a second by the first four bytes of a file."""

_FILE_HEADER_BYTES: Final = 24
_RECORD_HEADER_BYTES: Final = 16
# The other bits are the length of the frame check sequence at the end of packets.
_LINK_TYPE_MASK: Final = 0xFFFF

# No link carries a larger packet; payload bytes read as a length are mostly larger.
_ORIGINAL_BYTES_MAX: Final = (1 << 24) - 1
_TIMES_REMEMBERED: Final = 5
# About half a year, which is one step of the highest byte of a time in seconds.
_NEAR_SECONDS: Final = 1 << 24

DAMAGED: Final = "damaged pcap records"
CUT: Final = "pcap file cut inside a record"
ODD: Final = "pcap record whose header contradicts itself, read nevertheless"


class PcapReader:
    """The packets of one pcap file; `number` is that of the last packet, once all are read."""

    def __init__(self, input: Input, skipped: Skipped, number: int = 0) -> None:
        self.number = number
        self._input = input
        self._skipped = skipped
        self._times: list[int] = []
        """Seconds of the first packet and a few recent ones; some may be damaged."""
        if not input.has(0, _FILE_HEADER_BYTES):
            raise CaptureError(input.path, input.end_place(), "the header of the file is cut")
        self._read_file_header(0)

    def _read_file_header(self, place: int) -> None:
        position = place - self._input.base
        header = self._input.buffer[position : position + _FILE_HEADER_BYTES]
        order, self._second = MAGICS[header[:4]]
        self._record = Struct(order + "IIII")
        self._link_type: int = Struct(order + "I").unpack_from(header, 20)[0] & _LINK_TYPE_MASK
        self._is_little = order == "<"

    def packets(self) -> Iterator[Packet]:
        input = self._input
        place = self._next_record(_FILE_HEADER_BYTES)
        while place >= 0:
            yield self._packet(place)
            place += _RECORD_HEADER_BYTES + self._header(place)[2]
            # Fast path: all valid records in the window. The first other one leaves this loop.
            buffer = input.buffer
            position = place - input.base
            end = len(buffer)
            unpack = self._record.unpack_from
            link_type = self._link_type
            second = self._second
            scale = 1_000_000_000 // second
            number = self.number
            time_ns = -1
            after = self._times[-1] - _NEAR_SECONDS
            before = self._times[-1] + _NEAR_SECONDS
            while True:
                start = position + _RECORD_HEADER_BYTES
                if start > end:
                    break
                seconds, fraction, captured, original = unpack(buffer, position)
                stop = start + captured
                if stop > end or not 0 < captured <= original or fraction >= second:
                    break
                if captured > PACKET_BYTES_MAX or not after < seconds < before:
                    break
                number += 1
                time_ns = seconds * 1_000_000_000 + fraction * scale
                yield Packet(number, time_ns, link_type, buffer[start:stop], original)
                position = stop
            self.number = number
            if time_ns >= 0:
                self._remember(time_ns // 1_000_000_000)
            place = self._next_record(input.base + position)

    def _packet(self, place: int) -> Packet:
        seconds, fraction, captured, original = self._header(place)
        if not self._is_in_order(place):
            self._skipped.add(ODD, 0)
        self.number += 1
        self._remember(seconds)
        time_ns = seconds * 1_000_000_000 + fraction * (1_000_000_000 // self._second)
        start = place - self._input.base + _RECORD_HEADER_BYTES
        data = self._input.buffer[start : start + captured]
        return Packet(self.number, time_ns, self._link_type, data, max(captured, original))

    def _remember(self, seconds: int) -> None:
        self._times.append(seconds)
        if len(self._times) > _TIMES_REMEMBERED:
            del self._times[1]

    def _next_record(self, place: int) -> int:
        """The place of the next record, all of which is in the window; -1 at the end."""
        input = self._input
        while input.has(place, _RECORD_HEADER_BYTES):
            if not self._is_file_header(place):
                _, _, captured, original = self._header(place)
                follows = place + _RECORD_HEADER_BYTES + captured
                if captured > PACKET_BYTES_MAX:
                    return self._resynchronise(place, DAMAGED)
                if not input.has(place, _RECORD_HEADER_BYTES + captured):
                    return self._resynchronise(place, CUT)
                if self._is_in_order(place) and self._is_near(place, -1):
                    return place
                # The captured length may be wrong: the original length leads to a valid record.
                shorter = place + _RECORD_HEADER_BYTES + original
                if shorter < follows and self._leads_on(place, shorter):
                    return self._resynchronise(place, DAMAGED)
                if self._leads_on(place, follows):
                    return place
                return self._resynchronise(place, DAMAGED)
            self._read_file_header(place)
            place += _FILE_HEADER_BYTES
        if input.end_place() > place:
            self._skipped.add(CUT, input.end_place() - place)
        return -1

    def _is_file_header(self, place: int) -> bool:
        """Whether another capture was appended to this one (`cat a.pcap b.pcap`)."""
        position = place - self._input.base
        if self._input.buffer[position : position + 4] not in MAGICS:
            return False
        if not self._input.has(place, _FILE_HEADER_BYTES):
            return False
        position = place - self._input.base + 4
        return self._input.buffer[position : position + 4] in (b"\2\0\4\0", b"\0\2\0\4")

    def _header(self, place: int) -> tuple[int, int, int, int]:
        position = place - self._input.base
        seconds, fraction, captured, original = self._record.unpack_from(
            self._input.buffer, position
        )
        return seconds, fraction, captured, original

    def _is_in_order(self, place: int) -> bool:
        _, fraction, captured, original = self._header(place)
        if captured > original or captured > PACKET_BYTES_MAX:
            return False
        return 0 < original <= _ORIGINAL_BYTES_MAX and fraction < self._second

    def _is_near(self, place: int, other: int) -> bool:
        """Whether the time is near an earlier one, or near that of the record at `other`."""
        seconds = self._header(place)[0]
        if other >= 0 and abs(seconds - self._header(other)[0]) < _NEAR_SECONDS:
            return True
        if not self._times:
            return other < 0
        return any(abs(seconds - time) < _NEAR_SECONDS for time in self._times)

    def _leads_on(self, place: int, follows: int) -> bool:
        """Whether the record at `place` is followed by a valid record or the end of the file."""
        if self._input.has(place, follows - place + _RECORD_HEADER_BYTES):
            return self._is_in_order(follows) and self._is_near(follows, place)
        return follows == self._input.end_place()

    def _resynchronise(self, begin: int, reason: str) -> int:
        """Skips bytes that are no record; returns the place of the next one, or -1."""
        input = self._input
        limit = begin + CAPTURE_RESYNC_BYTES_MAX
        pattern = self._pattern()
        place = input.find(pattern, begin + 1, limit, _RECORD_HEADER_BYTES)
        while place >= 0:
            follows = place + _RECORD_HEADER_BYTES + self._header(place)[2]
            if self._is_in_order(place) and self._leads_on(place, follows):
                self._skipped.add(DAMAGED, place - begin)
                return place
            place = input.find(pattern, place + 1, limit, _RECORD_HEADER_BYTES)
        self._skipped.add(reason, input.drain() - begin)
        return -1

    def _pattern(self) -> re.Pattern[bytes]:
        """A pattern of record headers: within half a year of others, of a plausible length."""
        near = b"."
        if self._times:
            highs = {(time >> 24) + by & 255 for time in self._times for by in (-1, 0, 1)}
            near = b"[%b]" % b"".join(b"\\x%02x" % high for high in sorted(highs))
        parts = b"[\\x00-\\x%02x]" % (self._second >> 24)
        # A crash leaves files full of zeros, which must not look like records.
        parts += b"(?!\\x00{8})"
        if self._is_little:
            shape = b"...%b...%b..[\\x00-\\x04]\\x00...\\x00" % (near, parts)
        else:
            shape = b"%b...%b...\\x00[\\x00-\\x04]..\\x00..." % (near, parts)
        return re.compile(shape, re.DOTALL)
