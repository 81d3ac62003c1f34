"""SegmentReader: the packets of one segment of a recording, each block proven by its checksum.

A block that is torn or has a changed bit is skipped and counted; the next block with a right
checksum is read again. Link type and clock of the packets are those of the format, so that damage
to a section header or an interface costs no packet.

Packets on the interface STATE repeat what a reader must know at the start of the segment. They
have the numbers up to 0, and are left out if the segment before was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import Final

from zenlake.capture.input import Input
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcapng import CUT, IMPOSSIBLE_TIME, INTERFACE, PACKET, SECTION, TOO_LONG
from zenlake.capture.segment_format import (
    LINK_TYPE_RAW_IP,
    REDACTED,
    STATE,
    STATISTICS,
    TRAILER_BYTES,
    WIRE,
    trailer_of,
)
from zenlake.limits import CAPTURE_RESYNC_BYTES_MAX, RECORDING_STATE_BYTES_MAX

WRONG_CHECKSUM: Final = "damaged blocks of a recording"
OUT_OF_ORDER: Final = "packets of a recording with a number out of order"
MISSING: Final = "packets of a recording that are in none of its segments"
DROPPED: Final = "packets that did not fit into the buffer of the recorder"
REMOVED: Final = "segments of a recording with rules, which remove messages or payloads"
STATE_LEFT_OUT: Final = "state packets above the limit"

PACKET_NUMBER_MAX: Final = 1 << 38
"""The largest packet number: `seq`, which has it and an ordinal of 24 bits, fits into 63 bits."""
_BLOCK_BYTES_MIN: Final = 12 + TRAILER_BYTES
_PACKET_HEAD_BYTES: Final = 28
_PACKET_BLOCK_BYTES_MIN: Final = _PACKET_HEAD_BYTES + TRAILER_BYTES
SEGMENT_BLOCK_BYTES_MAX: Final = 1 << 17
"""A packet has 65,535 bytes at most, and the other blocks are small."""
SEGMENT_HEAD_BYTES: Final = 2_048
"""The section header and both interfaces are within so many bytes."""
_SEARCHED_BYTES_MAX: Final = 1 << 30
"""Bytes whose checksum is computed in searches for the next block of one segment."""
_INT64_MAX: Final = 0x7FFF_FFFF_FFFF_FFFF

_HEAD: Final = Struct("<II")
_PACKET: Final = Struct("<IIIIIII")
# A type of a block and a possible length.
_FOURS: Final = b"".join(b"\\x%02x" % code for code in range(0, 256, 4))
_PATTERN: Final = re.compile(
    b"(?:[\\x01\\x05\\x06]\\x00\\x00\\x00|\\x0a\\x0d\\x0d\\x0a)[%b].[\\x00\\x01]\\x00" % _FOURS,
    re.DOTALL,
)
_PATTERN_BYTES: Final = 8
_TYPES: Final = frozenset((SECTION, INTERFACE, STATISTICS, PACKET))


def begins_segment(input: Input) -> bool:
    """Whether a file begins as a segment does, even if one of its first blocks is damaged."""
    # A live pipe may not have so many bytes yet: its first block decides.
    if input.path != "-" or not input.has(0, _PATTERN_BYTES):
        input.has(0, SEGMENT_HEAD_BYTES)
    else:
        input.has(0, min(_HEAD.unpack_from(input.buffer)[1], SEGMENT_HEAD_BYTES))
    return is_segment_head(input.buffer[:SEGMENT_HEAD_BYTES])


def is_segment_head(head: bytes) -> bool:
    """Whether a file with these first bytes begins as a segment does."""
    for found in _PATTERN.finditer(head):
        start = found.start()
        type, length = _HEAD.unpack_from(head, start)
        if type not in (SECTION, INTERFACE) or start + length > len(head):
            continue
        if trailer_of(head, start, start + length) is not None:
            return True
    return False


class SegmentReader:
    """The packets of one segment; `number` is that of the last packet, once all are read."""

    def __init__(
        self,
        input: Input,
        skipped: Skipped,
        number: int = 0,
        is_first: bool = True,
        is_growing: bool = False,
        dropped: int = -1,
        state_bytes_max: int = RECORDING_STATE_BYTES_MAX,
    ) -> None:
        self.number = number
        self._state_bytes_max = state_bytes_max
        self._input = input
        self._skipped = skipped
        self._is_first = is_first
        self._is_growing = is_growing
        self._state: list[Packet] = []
        self._state_bytes = 0
        self._is_past_state = False
        self._searched_bytes = 0
        self.place = input.base
        """The offset of the next block, after that of the last packet."""
        self._may_resume = False
        self.dropped = dropped
        """How many packets the recorder had dropped by the last block that says so; -1: unknown."""

    def resume(self, input: Input, may_resume: bool) -> Iterator[Packet]:
        """The packets from `place` on in a file that has grown; `input` begins there.

        With `may_resume` the end of the file is not the end of the segment: bytes at the end that
        are not a whole block are left to the next call.
        """
        self._input = input
        self._is_growing = self._may_resume = may_resume
        return self.packets()

    def packets(self) -> Iterator[Packet]:
        input = self._input
        place = self._next_block(self.place)
        while place >= 0:
            buffer = input.buffer
            position = place - input.base
            end = len(buffer)
            while position + _BLOCK_BYTES_MIN <= end:
                type, length = _HEAD.unpack_from(buffer, position)
                stop: int = position + length
                if stop > end:
                    break
                trailer = trailer_of(buffer, position, stop)
                if trailer is None:
                    break
                if type == PACKET:
                    packet = self._packet(position, stop, trailer[1])
                    self.place = input.base + stop
                    if packet is not None:
                        if not self._is_past_state:
                            yield from self._pop_state()
                        yield packet
                else:
                    self._other(type, *trailer)
                position = stop
            self.place = input.base + position
            place = self._next_block(self.place)
        if not self._may_resume:
            yield from self._pop_state()

    def _pop_state(self) -> list[Packet]:
        """The packets of the state, with numbers up to 0."""
        self._is_past_state = True
        state, self._state = self._state, []
        for index, packet in enumerate(state):
            packet.number = index + 1 - len(state)
        return state

    def _packet(self, start: int, stop: int, number: int) -> Packet | None:
        """A packet on WIRE; one on STATE is kept in `_state`."""
        buffer = self._input.buffer
        size = stop - start
        if size < _PACKET_BLOCK_BYTES_MIN:
            self._skipped.add(TOO_LONG, size)
            return None
        _, _, index, high, low, captured, original = _PACKET.unpack_from(buffer, start)
        if captured > size - _PACKET_BLOCK_BYTES_MIN or index not in (WIRE, STATE):
            self._skipped.add(TOO_LONG, size)
            return None
        time_ns: int = high << 32 | low
        if time_ns > _INT64_MAX:
            self._skipped.add(IMPOSSIBLE_TIME, size)
            return None
        first = start + _PACKET_HEAD_BYTES
        length = max(captured, original)
        if index == STATE:
            if not self._is_first:
                return None
            self._state_bytes += size
            if self._is_past_state or self._state_bytes > self._state_bytes_max:
                self._skipped.add(STATE_LEFT_OUT, size)
                return None
            data = buffer[first : first + captured]
            self._state.append(Packet(0, time_ns, LINK_TYPE_RAW_IP, data, length, index))
            return None
        if not self.number < number <= PACKET_NUMBER_MAX:
            self._skipped.add(OUT_OF_ORDER, size)
            return None
        self.number = number
        data = buffer[first : first + captured]
        return Packet(number, time_ns, LINK_TYPE_RAW_IP, data, length, index)

    def _other(self, type: int, flags: int, number: int) -> None:
        """A block without a packet."""
        if type == SECTION:
            if flags & REDACTED:
                self._skipped.add(REMOVED, 0)
            if self._is_first and not number:
                self.dropped = 0
            if self.number < number <= PACKET_NUMBER_MAX:
                if not self._is_first:
                    self._skipped.add(MISSING, 0, number - self.number)
                self.number = number
        elif type == STATISTICS:
            if self.dropped >= 0 and number > self.dropped:
                self._skipped.add(DROPPED, 0, number - self.dropped)
            self.dropped = number

    def _next_block(self, place: int) -> int:
        """The place of the next valid block, all of which is in the window; -1 at the end."""
        input = self._input
        if not input.has(place, _PATTERN_BYTES):
            if input.end_place() > place and not self._is_growing:
                self._skipped.add(CUT, input.end_place() - place)
            return -1
        length = self._length(place)
        if self._is_block(place, length):
            return place
        if length > 0 and input.has(place, length + _PATTERN_BYTES):
            # First the block after this one: the data of a packet may look like blocks.
            follows = place + length
            size = self._length(follows) if self._ends_in_length(place, length) else -1
            if size > 0 and input.has(place, length + size) and self._is_block(follows, size):
                self._skipped.add(WRONG_CHECKSUM, length)
                return follows
        return self._resynchronise(place, length)

    def _length(self, place: int) -> int:
        """The length in the header of a block, which is in the window; -1 if it is impossible."""
        type, length = _HEAD.unpack_from(self._input.buffer, place - self._input.base)
        if type not in _TYPES or length & 3:
            return -1
        return int(length) if _BLOCK_BYTES_MIN <= length <= SEGMENT_BLOCK_BYTES_MAX else -1

    def _ends_in_length(self, place: int, length: int) -> bool:
        """Whether the length at the end is that at the beginning, which then is right."""
        stop = place + length - self._input.base
        return int.from_bytes(self._input.buffer[stop - 4 : stop], "little") == length

    def _is_block(self, place: int, length: int) -> bool:
        if length < 0 or not self._input.has(place, length):
            return False
        position = place - self._input.base
        return trailer_of(self._input.buffer, position, position + length) is not None

    def _resynchronise(self, begin: int, length: int) -> int:
        """Skips bytes that are no block; returns the place of the next one, or -1."""
        input = self._input
        is_cut = length > 0 and not input.has(begin, length)
        limit = begin + CAPTURE_RESYNC_BYTES_MAX
        place = input.find(_PATTERN, begin + 1, limit, _PATTERN_BYTES)
        while place >= 0 and self._searched_bytes < _SEARCHED_BYTES_MAX:
            size = self._length(place)
            self._searched_bytes += max(size, 0)
            if self._is_block(place, size) and self._is_next(place, size):
                self._skipped.add(WRONG_CHECKSUM, place - begin)
                return place
            place = input.find(_PATTERN, place + 1, limit, _PATTERN_BYTES)
        if not self._is_growing:
            self._skipped.add(CUT if is_cut else WRONG_CHECKSUM, input.drain() - begin)
        return -1

    def _is_next(self, place: int, length: int) -> bool:
        """Whether a valid block may be the next one: data may contain blocks of old segments."""
        position = place - self._input.base
        buffer = self._input.buffer
        type: int = _HEAD.unpack_from(buffer, position)[0]
        trailer = trailer_of(buffer, position, position + length)
        if trailer is None or type != PACKET:
            return trailer is not None
        if length < _PACKET_BLOCK_BYTES_MIN:
            return False
        index: int = _PACKET.unpack_from(buffer, position)[2]
        return index == STATE or trailer[1] > self.number
