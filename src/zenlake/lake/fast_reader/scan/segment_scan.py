# Parts: 3035e16b84b80a5f
"""SegmentScan: the packets of a recording, as long as every block is valid and in order.

A kernel reads blocks with packets and computes their checksums; Python reads the few sections and
interfaces. A recording with a damaged or missing block is left to the exact reader
(capture/segment_reader.py).

Numbers of packets are counted within what is read: from 1 for the first packet on WIRE, up to 0 for
the state before it. `packets_before` is what the numbers in the recording exceed them by.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.capture.pcapng import INTERFACE, PACKET, SECTION
from zenlake.capture.recordings import is_growing_segment
from zenlake.capture.segment_format import (
    ENTERPRISE,
    LINK_TYPE_RAW_IP,
    REDACTED,
    STATE,
    STATISTICS,
    TRAILER_BYTES,
    WIRE,
    trailer_of,
)
from zenlake.capture.segment_reader import PACKET_NUMBER_MAX, SEGMENT_BLOCK_BYTES_MAX
from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.scan.numbers import (
    Bytes,
    Numbers,
    byte,
    signed,
    u16_little,
    u32_little,
    uncounted_entry,
)
from zenlake.lake.fast_reader.scan.packets import Packets
from zenlake.lake.fast_reader.scan.pcapng_scan import BlockScan
from zenlake.lake.fast_reader.scan.statuses import BAD_TIME, CUT, DAMAGED, END, FULL, SPECIAL
from zenlake.limits import RECORDING_STATE_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.scan.file_window import FileWindow

# What the kernel keeps between calls.
NEXT_NUMBER: Final = 0
"""The number of the next packet in the recording."""
STATE_PACKETS: Final = 1
"""How packets on STATE are treated at this place: one of the following."""
DROPPED: Final = 2
"""How many packets the recorder has dropped so far; -1 if that is not known."""
NEWLY_DROPPED: Final = 3
"""How many of them in what was read."""
_MEMORY_WORDS: Final = 4

LEFT_OUT: Final = 0
INCLUDED: Final = 1
"""In the first segment, before its first packet on WIRE."""
OUT_OF_PLACE: Final = 2

_TABLES: Final = 16
_POLYNOMIAL: Final = 0xEDB8_8320
_MASK: Final = 0xFFFF_FFFF
_BLOCK_BYTES_MIN: Final = 12 + TRAILER_BYTES
_PACKET_HEAD_BYTES: Final = 28
_CUSTOM_OPTION: Final = 19373
_VALUE_BYTES: Final = 20
_HEAD: Final = Struct("<III")
_HEAD_BYTES: Final = 12
_COUNTED_BYTES: Final = 1 << 20


class SegmentScan(BlockScan):
    """The packets of a recording. With `is_checked` checksums are computed."""

    def __init__(self, window: FileWindow, is_checked: bool = True) -> None:
        super().__init__(window)
        self._is_checked = is_checked
        self._sections = 0
        self.redacted = 0
        """Segments of a recorder with rules."""
        self._memory = np.zeros(_MEMORY_WORDS, np.int64)
        self.is_growing = window.is_growing or is_growing_segment(window.path)
        self.packets_before = self._packets_before()
        self.state_packets = 0 if self.problem else self._count_state()
        self._memory[NEXT_NUMBER] = self.packets_before + 1
        self._memory[DROPPED] = 0 if self.packets_before == 0 else -1

    @property
    def first_number(self) -> int:
        return 1 - self.state_packets

    @property
    def dropped(self) -> int:
        return int(self._memory[NEWLY_DROPPED])

    def _packets_before(self) -> int:
        head = self._window.head(_HEAD_BYTES)
        length = _HEAD.unpack(head)[1] if len(head) == _HEAD_BYTES else 0
        block = self._window.head(min(length, SEGMENT_BLOCK_BYTES_MAX))
        trailer = trailer_of(block, 0, len(block)) if head[:4] == b"\n\r\r\n" else None
        if trailer is None or trailer[1] > PACKET_NUMBER_MAX:
            self.problem = "its section header is damaged"
            return 0
        return trailer[1]

    def _count_state(self) -> int:
        """The number of packets on STATE before the first one on WIRE."""
        window, at, count = self._window, 0, 0
        base, held = 0, b""
        while True:
            if at + _HEAD_BYTES > base + len(held):
                base, held = at, self._bytes_at(at)
                if len(held) < _HEAD_BYTES:
                    return count
            kind, length, interface = _HEAD.unpack_from(held, at - base)
            is_state = kind == PACKET and interface == STATE
            if not (is_state or kind == INTERFACE or (kind == SECTION and at == 0)):
                return count
            if length < _BLOCK_BYTES_MIN or at + length > window.size:
                return count
            if at > RECORDING_STATE_BYTES_MAX:
                self.problem = "its state takes too much memory"
                return 0
            count += is_state
            at += length

    def _bytes_at(self, at: int) -> bytes:
        count = max(0, min(_COUNTED_BYTES, self._window.size - at))
        return self._window.read(at, count).tobytes()

    def _scan(self, at: int, stop: int, packets: Packets, count: int) -> tuple[int, int, int]:
        return scan_segment(
            self._window.loaded,
            at,
            stop,
            packets,
            count,
            self._memory,
            self._is_checked,
            CRC_TABLES,
        )

    def _read_block(self, data: NDArray[np.uint8]) -> tuple[int, int]:
        head = data[:_HEAD_BYTES].tobytes()
        kind, length, _ = _HEAD.unpack(head)
        if length & 3 or not _BLOCK_BYTES_MIN <= length <= SEGMENT_BLOCK_BYTES_MAX:
            return DAMAGED, length
        if length > len(data):
            return CUT, length
        body = data[:length].tobytes()
        trailer = trailer_of(body, 0, length)
        if trailer is None:
            return DAMAGED, length
        if kind == SECTION and not self._begin_section(trailer[1]):
            return DAMAGED, length
        self.redacted += kind == SECTION and trailer[0] & REDACTED != 0
        return SPECIAL, length

    def _begin_section(self, packets_before: int) -> bool:
        """Whether a section header is that of the next segment."""
        self._sections += 1
        self._memory[STATE_PACKETS] = INCLUDED if self._sections == 1 else LEFT_OUT
        if self._sections == 1:
            return True
        # A file of several segments is left to the exact reader.
        is_next = not self._is_checked or self._memory[NEXT_NUMBER] == packets_before + 1
        return bool(self._window.is_recording and is_next)


def _crc_tables() -> NDArray[np.uint32]:
    """Tables for sixteen bytes at once: entry `256 * k + b` is the effect of `b`, `k` bytes ago."""
    found = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        found = np.where(found & 1, found >> 1 ^ np.uint32(_POLYNOMIAL), found >> 1)
    tables = [found]
    for _ in range(1, _TABLES):
        last = tables[-1]
        tables.append(last >> 8 ^ found[last & 0xFF])
    return np.concatenate(tables).astype(np.uint32)


CRC_TABLES: Final = _crc_tables()


@inlined
def _crc_step(data: Bytes, at: int, crc: int, tables: Bytes) -> int:
    """The checksum after sixteen more bytes."""
    found = crc ^ u32_little(data, at)
    result = (
        signed(tables[3840 + (found & 0xFF)])
        ^ signed(tables[3584 + (found >> 8 & 0xFF)])
        ^ signed(tables[3328 + (found >> 16 & 0xFF)])
        ^ signed(tables[3072 + (found >> 24)])
    )
    for index in range(12):
        result ^= signed(tables[256 * (11 - index) + byte(data, at + 4 + index)])
    return result


@inlined
def crc32(data: Bytes, start: int, stop: int, tables: Bytes) -> int:
    """The CRC-32 of some bytes, as zlib computes it."""
    crc = _MASK
    at = start
    while at + 16 <= stop:
        crc = _crc_step(data, at, crc, tables)
        at += 16
    while at < stop:
        crc = signed(tables[(crc ^ byte(data, at)) & 0xFF]) ^ crc >> 8
        at += 1
    return crc ^ _MASK


@inlined
def _u64_little(data: Bytes, at: int) -> int:
    """Negative if the number does not fit into 63 bits."""
    return u32_little(data, at) | u32_little(data, at + 4) << 32


@uncounted_entry
def scan_segment(
    data: Bytes,
    at: int,
    stop: int,
    out: Packets,
    count: int,
    memory: Numbers,
    is_checked: bool,
    tables: Bytes,
) -> tuple[int, int, int]:
    size, room = len(data), len(out.start)
    while at < stop:
        if at == size:
            return END, at, count
        if count == room:
            return FULL, at, count
        if at + _HEAD_BYTES > size:
            return CUT, at, count
        kind, length = u32_little(data, at), u32_little(data, at + 4)
        if kind in (SECTION, INTERFACE):
            return SPECIAL, at, count
        if length & 3 or not _BLOCK_BYTES_MIN <= length <= SEGMENT_BLOCK_BYTES_MAX:
            return DAMAGED, at, count
        if kind != PACKET and kind != STATISTICS:
            return DAMAGED, at, count
        if at + length > size:
            return CUT, at, count
        last = at + length
        if u32_little(data, last - 4) != length or u32_little(data, last - 8):
            return DAMAGED, at, count
        if is_checked:
            is_ours = u16_little(data, last - 32) == _CUSTOM_OPTION
            is_ours = is_ours and u16_little(data, last - 30) == _VALUE_BYTES
            if not is_ours or u32_little(data, last - 28) != ENTERPRISE:
                return DAMAGED, at, count
            if crc32(data, at, last - 12, tables) != u32_little(data, last - 12):
                return DAMAGED, at, count
        number = _u64_little(data, last - 20)
        if kind == STATISTICS:
            if not 0 <= number <= PACKET_NUMBER_MAX:
                return DAMAGED, at, count
            if 0 <= memory[DROPPED] < number:
                memory[NEWLY_DROPPED] += number - memory[DROPPED]
            memory[DROPPED] = number
            at = last
            continue
        captured, original = u32_little(data, at + 20), u32_little(data, at + 24)
        if captured > length - _PACKET_HEAD_BYTES - TRAILER_BYTES:
            return DAMAGED, at, count
        index = u32_little(data, at + 8)
        high = u32_little(data, at + 12)
        if high >= 0x8000_0000:
            return BAD_TIME, at, count
        if index == WIRE:
            if is_checked:
                if number != memory[NEXT_NUMBER] or number > PACKET_NUMBER_MAX:
                    return DAMAGED, at, count
                memory[NEXT_NUMBER] = number + 1
            if memory[STATE_PACKETS] == INCLUDED:
                memory[STATE_PACKETS] = OUT_OF_PLACE
        elif index != STATE or memory[STATE_PACKETS] == OUT_OF_PLACE:
            return DAMAGED, at, count
        elif memory[STATE_PACKETS] == LEFT_OUT:
            at = last
            continue
        out.time_ns[count] = high << 32 | u32_little(data, at + 16)
        out.start[count] = at + _PACKET_HEAD_BYTES
        out.captured[count] = captured
        out.original[count] = max(captured, original)
        out.link_type[count] = LINK_TYPE_RAW_IP
        out.interface[count] = index
        count += 1
        at = last
    return (END if at == size else FULL), at, count
