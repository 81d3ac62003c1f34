"""PcapngReader: the block format, with sections, comments, and interfaces with own clocks.

     0        4        8                          length - 4
    | type   | length | body, padded to 4 bytes ... | length |

A file is a list of sections, each with its own byte order and interfaces. A packet names its
interface by the number in its section; the interface has the link type and the clock. Blocks
without packets are skipped.

The length at both ends reveals damage: a block is accepted if both agree, and after damage the
reader searches for the next block of a known type whose lengths agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import Final

from zenlake.capture.input import Input
from zenlake.capture.packet import Packet, Skipped
from zenlake.errors import CaptureError
from zenlake.limits import (
    CAPTURE_BLOCK_BYTES_MAX,
    CAPTURE_COMMENT_BYTES_MAX,
    CAPTURE_INTERFACES_MAX,
    CAPTURE_RESYNC_BYTES_MAX,
    PACKET_BYTES_MAX,
)

MAGIC: Final = b"\n\r\r\n"
ORDERS: Final = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}

SECTION: Final = 0x0A0D0D0A
INTERFACE: Final = 1
OLD_PACKET: Final = 2
SIMPLE_PACKET: Final = 3
PACKET: Final = 6
# Names, statistics, journal entries, secrets, and blocks that vendors define.
_PASSED_OVER: Final = frozenset((4, 5, 9, 10, 0x0BAD, 0x4000_0BAD))

END_OF_OPTIONS: Final = 0
COMMENT: Final = 1
TIME_RESOLUTION: Final = 9
TIME_OFFSET: Final = 14

_BLOCK_BYTES_MIN: Final = 12
_FIXED_BYTES: Final = {SECTION: 28, INTERFACE: 20, OLD_PACKET: 32, SIMPLE_PACKET: 16, PACKET: 32}
"""The shortest block of each type."""
_INT64_MAX: Final = 0x7FFF_FFFF_FFFF_FFFF

DAMAGED: Final = "damaged pcapng blocks"
CUT: Final = "pcapng file cut inside a block"
UNKNOWN_BLOCK: Final = "pcapng blocks of unknown type"
UNKNOWN_INTERFACE: Final = "packets of an unknown interface"
TOO_MANY_INTERFACES: Final = "interfaces above the limit"
TOO_LONG: Final = "packets longer than their block or the limit"
IMPOSSIBLE_TIME: Final = "packets whose time is beyond 64 bits of nanoseconds"
OPTIONS_OVERRUN: Final = "options that overrun their block"
COMMENTS_LEFT_OUT: Final = "comments above the limit"


class Comments:
    """Comments of a capture, each with its packet number (0: of a section or an interface)."""

    def __init__(self) -> None:
        self.texts: list[tuple[int, str]] = []
        self.bytes = 0

    def add(self, number: int, data: bytes) -> bool:
        # Each comment counts 64 bytes more: an empty comment uses memory too.
        if self.bytes + len(data) + 64 > CAPTURE_COMMENT_BYTES_MAX:
            return False
        self.bytes += len(data) + 64
        self.texts.append((number, data.decode("utf-8", "replace")))
        return True


class Interface:
    """Link type and clock: a time of `n` units is `n * multiplier // divisor + offset_ns`."""

    def __init__(self, link_type: int, snap_length: int) -> None:
        self.link_type = link_type
        self.snap_length = snap_length
        self.multiplier = 1_000
        self.divisor = 1
        self.offset_ns = 0

    def set_resolution(self, code: int) -> None:
        """Units are negative powers of 10, or of 2 where the highest bit is set."""
        if code & 0x80:
            self.multiplier, self.divisor = 1_000_000_000, 1 << (code & 0x7F)
        elif code <= 9:
            self.multiplier, self.divisor = 10 ** (9 - code), 1
        else:
            self.multiplier, self.divisor = 1, 10 ** (code - 9)


_NO_INTERFACE: Final = Interface(0, 0)


class PcapngReader:
    """The packets of one pcapng file; `number` is that of the last packet, once all are read."""

    def __init__(
        self, input: Input, skipped: Skipped, number: int = 0, comments: Comments | None = None
    ) -> None:
        self.number = number
        self.comments = Comments() if comments is None else comments
        self._input = input
        self._skipped = skipped
        self._interfaces: list[Interface] = []
        self._block_bytes = 0
        if not input.has(0, _BLOCK_BYTES_MIN) or input.buffer[8:12] not in ORDERS:
            raise CaptureError(input.path, 8, "the section header has no byte order")
        self._begin_section(ORDERS[input.buffer[8:12]])

    def _begin_section(self, order: str) -> None:
        self._interfaces = []
        self._head = Struct(order + "II")
        self._interface_head = Struct(order + "HHI")
        self._packet_head = Struct(order + "IIIII")
        self._old_packet_head = Struct(order + "HHIIII")
        self._option_head = Struct(order + "HH")
        self._seconds = Struct(order + "q")
        self._block = Struct(order + "IIIIIII")
        # What to search for after damage: a known type and a plausible length, or a new section.
        known = b"\\x00{3}[\\x01-\\x06\\x0a]\\x00[\\x00-\\x05].[%b]"
        if order == "<":
            known = b"[\\x01-\\x06\\x0a]\\x00{3}[%b].[\\x00-\\x05]\\x00"
        fours = b"".join(b"\\x%02x" % code for code in range(0, 256, 4))
        section = b"\n\r\r\n....(?:\\x4d\\x3c\\x2b\\x1a|\\x1a\\x2b\\x3c\\x4d)"
        self._pattern = re.compile(known % fours + b"|" + section, re.DOTALL)

    def packets(self) -> Iterator[Packet]:
        input = self._input
        place = self._next_block(0)
        while place >= 0:
            position = place - input.base
            type, length = self._head.unpack_from(input.buffer, position)
            self._block_bytes = length
            packet = self._read_block(type, position + 8, position + length - 4)
            if packet is not None:
                yield packet
            place += length
            # Fast path: packets without options in the window. Any other block leaves the loop.
            buffer = input.buffer
            position = place - input.base
            end = len(buffer)
            unpack = self._block.unpack_from
            number = self.number
            current = -1
            interface = _NO_INTERFACE
            while position + 32 <= end:
                type, length, index, high, low, captured, original = unpack(buffer, position)
                stop = position + length
                # Only padding between the data and the length: no options.
                if type != PACKET or not 32 <= length - captured < 36 or stop > end or length & 3:
                    break
                if buffer[stop - 4 : stop] != buffer[position + 4 : position + 8]:
                    break
                if captured > original or captured > PACKET_BYTES_MAX:
                    break
                if index != current:
                    if index >= len(self._interfaces):
                        break
                    interface = self._interfaces[index]
                    current = index
                time_ns = (high << 32 | low) * interface.multiplier
                if interface.divisor != 1:
                    time_ns //= interface.divisor
                time_ns += interface.offset_ns
                if not -_INT64_MAX <= time_ns <= _INT64_MAX:
                    break
                number += 1
                start = position + 28
                data = buffer[start : start + captured]
                yield Packet(number, time_ns, interface.link_type, data, original, index)
                position = stop
            self.number = number
            place = self._next_block(input.base + position)

    def _next_block(self, place: int) -> int:
        """The place of the next valid block, all of which is in the window; -1 at the end."""
        input = self._input
        if not input.has(place, _BLOCK_BYTES_MIN):
            if input.end_place() > place:
                self._skipped.add(CUT, input.end_place() - place)
            return -1
        length = self._length(place)
        if length > 0 and not input.has(place, length):
            return self._resynchronise(place, CUT)
        return place if self._is_block(place, length) else self._resynchronise(place, DAMAGED)

    def _length(self, place: int) -> int:
        """The length in the header of a block; -1 if it is impossible."""
        position = place - self._input.base
        buffer = self._input.buffer
        head = self._head
        if buffer.startswith(MAGIC, position):
            order = ORDERS.get(buffer[position + 8 : position + 12])
            if order is None:
                return -1
            head = Struct(order + "II")
        type, length = head.unpack_from(buffer, position)
        shortest = _FIXED_BYTES.get(type, _BLOCK_BYTES_MIN)
        if length & 3 or not shortest <= length <= CAPTURE_BLOCK_BYTES_MAX:
            return -1
        return int(length)

    def _is_block(self, place: int, length: int) -> bool:
        """Whether a whole block is here and ends in its length. A section header takes effect."""
        if length < 0 or not self._input.has(place, length):
            return False
        buffer = self._input.buffer
        position = place - self._input.base
        last = position + length - 4
        if buffer[last : last + 4] != buffer[position + 4 : position + 8]:
            return False
        if buffer.startswith(MAGIC, position):
            self._begin_section(ORDERS[buffer[position + 8 : position + 12]])
        return True

    def _resynchronise(self, begin: int, reason: str) -> int:
        """Skips bytes that are no block; returns the place of the next one, or -1."""
        input = self._input
        limit = begin + CAPTURE_RESYNC_BYTES_MAX
        place = input.find(self._pattern, begin + 1, limit, _BLOCK_BYTES_MIN)
        while place >= 0:
            if self._is_likely(place) and self._is_block(place, self._length(place)):
                self._skipped.add(DAMAGED, place - begin)
                return place
            place = input.find(self._pattern, place + 1, limit, _BLOCK_BYTES_MIN)
        self._skipped.add(reason, input.drain() - begin)
        return -1

    def _is_likely(self, place: int) -> bool:
        """Whether a match may be a block: it is at a multiple of 4, or its interface exists.

        Missing bytes shift blocks. But a block of the other byte order also matches, three bytes
        after its start, so there the interface is checked.
        """
        if place % 4 == 0:
            return True
        if not self._input.has(place, 28):
            return False
        fields = self._block.unpack_from(self._input.buffer, place - self._input.base)
        type: int = fields[0]
        index: int = fields[2]
        return type != PACKET or index < len(self._interfaces)

    def _read_block(self, type: int, start: int, stop: int) -> Packet | None:
        """Reads a block, whose body is between these positions of the window."""
        buffer = self._input.buffer
        if type == PACKET:
            index, high, low, captured, original = self._packet_head.unpack_from(buffer, start)
            return self._packet(index, high << 32 | low, captured, original, start + 20, stop)
        if type == OLD_PACKET:
            fields = self._old_packet_head.unpack_from(buffer, start)
            index, _, high, low, captured, original = fields
            return self._packet(index, high << 32 | low, captured, original, start + 20, stop)
        if type == SIMPLE_PACKET:
            return self._simple_packet(start, stop)
        if type == SECTION:
            self._read_options(0, start + 16, stop)
        elif type == INTERFACE:
            self._read_interface(start, stop)
        elif type not in _PASSED_OVER:
            self._skipped.add(UNKNOWN_BLOCK, self._block_bytes)
        return None

    def _simple_packet(self, start: int, stop: int) -> Packet | None:
        """A packet without time and interface: time 0 and the first interface are used."""
        original: int = self._head.unpack_from(self._input.buffer, start)[0]
        captured = min(original, stop - start - 4)
        if self._interfaces and self._interfaces[0].snap_length:
            captured = min(captured, self._interfaces[0].snap_length)
        return self._packet(0, -1, captured, original, start + 4, stop)

    def _packet(
        self, index: int, units: int, captured: int, original: int, start: int, stop: int
    ) -> Packet | None:
        if index >= len(self._interfaces):
            self._skipped.add(UNKNOWN_INTERFACE, self._block_bytes)
            return None
        if captured > stop - start or captured > PACKET_BYTES_MAX:
            self._skipped.add(TOO_LONG, self._block_bytes)
            return None
        interface = self._interfaces[index]
        time_ns = 0
        if units >= 0:
            time_ns = units * interface.multiplier // interface.divisor + interface.offset_ns
        if not -_INT64_MAX <= time_ns <= _INT64_MAX:
            self._skipped.add(IMPOSSIBLE_TIME, self._block_bytes)
            return None
        self.number += 1
        self._read_options(self.number, start + (captured + 3 & ~3), stop)
        data = self._input.buffer[start : start + captured]
        length = max(captured, original)
        return Packet(self.number, time_ns, interface.link_type, data, length, index)

    def _read_interface(self, start: int, stop: int) -> None:
        if len(self._interfaces) >= CAPTURE_INTERFACES_MAX:
            self._skipped.add(TOO_MANY_INTERFACES, self._block_bytes)
            return
        link_type, _, snap_length = self._interface_head.unpack_from(self._input.buffer, start)
        interface = Interface(link_type, snap_length)
        for code, value in self._read_options(0, start + 8, stop):
            if code == TIME_RESOLUTION and len(value) == 1:
                interface.set_resolution(value[0])
            elif code == TIME_OFFSET and len(value) == 8:
                interface.offset_ns = self._seconds.unpack(value)[0] * 1_000_000_000
        self._interfaces.append(interface)

    def _read_options(self, number: int, start: int, stop: int) -> list[tuple[int, bytes]]:
        """Keeps the comments; returns the options that describe the clock."""
        buffer = self._input.buffer
        options: list[tuple[int, bytes]] = []
        while start + 4 <= stop:
            code, length = self._option_head.unpack_from(buffer, start)
            start += 4
            if code == END_OF_OPTIONS:
                break
            if start + length > stop:
                self._skipped.add(OPTIONS_OVERRUN, stop - start)
                break
            if code == COMMENT:
                if not self.comments.add(number, buffer[start : start + length]):
                    self._skipped.add(COMMENTS_LEFT_OUT, length)
            elif code in (TIME_RESOLUTION, TIME_OFFSET) and len(options) < 8:
                options.append((code, buffer[start : start + length]))
            start += length + 3 & ~3
        return options
