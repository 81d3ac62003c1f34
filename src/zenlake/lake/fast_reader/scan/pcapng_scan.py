# Parts: af2ecf3f3ae0c008
"""PcapngScan: the packets of a pcapng file, as long as every block is valid.

A kernel reads blocks with packets; Python reads the few sections and interfaces. A file that the
exact reader (capture/pcapng.py) would call damaged is left to it.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.capture.pcapng import (
    END_OF_OPTIONS,
    INTERFACE,
    OLD_PACKET,
    ORDERS,
    PACKET,
    SECTION,
    SIMPLE_PACKET,
    TIME_OFFSET,
    TIME_RESOLUTION,
    Interface,
)
from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.scan.numbers import Bytes, Numbers, u16, u32, uncounted_entry
from zenlake.lake.fast_reader.scan.packets import Packets
from zenlake.lake.fast_reader.scan.statuses import (
    BAD_OPTIONS,
    BAD_TIME,
    CUT,
    DAMAGED,
    END,
    FULL,
    SPECIAL,
    TOO_LONG,
    UNKNOWN_INTERFACE,
)
from zenlake.limits import CAPTURE_BLOCK_BYTES_MAX, CAPTURE_INTERFACES_MAX, PACKET_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.scan.file_window import FileWindow

SPECIAL_BLOCKS_MAX: Final = 65_536
"""Sections and interfaces of one file, which are slow to read; real files have a few."""

_BLOCK_BYTES_MIN: Final = 12
_SECTION_BYTES_MIN: Final = 28
_INTERFACE_BYTES_MIN: Final = 20
_PACKET_BYTES_MIN: Final = 32
_SIMPLE_PACKET_BYTES_MIN: Final = 16

# The clock of an interface. Nanoseconds are units * multiplier, units / divisor, or by a shift.
_LINK_TYPE: Final = 0
_SNAP_LENGTH: Final = 1
_MULTIPLIER: Final = 2
_DIVISOR: Final = 3
_SHIFT: Final = 4
_OFFSET_NS: Final = 5
_CLOCK_FIELDS: Final = 6
_SHIFT_MAX: Final = 33
"""Up to it, the fraction of a second times 10**9 fits into 63 bits."""
_TIME_MAX: Final = 1 << 61


class BlockScan:
    """Stretches of packets, one after the other, of a file of pcapng blocks."""

    is_big = False

    def __init__(self, window: FileWindow) -> None:
        self.at = 0
        """The offset of the next block in the file."""
        self.problem = ""
        """Why the file is left to the exact reader, if it is known."""
        self.specials: list[tuple[int, int]] = []
        """Offset and length of each section header and interface so far."""
        self._window = window

    def _scan(self, at: int, stop: int, packets: Packets, count: int) -> tuple[int, int, int]:
        """Scans loaded packets from `at` to `stop`: why it stopped, where, and their number."""
        raise NotImplementedError

    def _read_block(self, data: NDArray[np.uint8]) -> tuple[int, int]:
        """Reads the block at the start of `data`; SPECIAL if it is valid, and its length."""
        raise NotImplementedError

    def fill(self, packets: Packets, stop: int) -> tuple[int, int]:
        """Scans loaded packets that begin before `stop`; why it stopped, and their number."""
        window, count = self._window, 0
        last = window.position(stop)
        while True:
            status, at, count = self._scan(window.position(self.at), last, packets, count)
            self.at = window.offset_of(at)
            if status == SPECIAL:
                status = self._read_special()
            if status != SPECIAL:
                return status, count

    def seek(self, at: int, specials: NDArray[np.int64]) -> bool:
        """Continues at the block at `at`, further on; False if the file has changed.

        `specials` has all section headers and interfaces of the file. Skipped ones are read.
        """
        skipped = specials[(specials[:, 0] >= self.at) & (specials[:, 0] < at)]
        for offset, length in skipped.tolist():
            status, read = self._read_block(self._window.read(offset, length))
            if status != SPECIAL or read != length:
                return False
        self.at = at
        return True

    def may_resume(self) -> bool:
        """Whether the exact reader might find another block after the truncated one."""
        window = self._window
        return has_block(window.loaded, window.position(self.at) + 1, self.is_big)

    def _read_special(self) -> int:
        """Reads a section or an interface; SPECIAL if it is valid."""
        at = self._window.position(self.at)
        status, length = self._read_block(self._window.loaded[at:])
        if status == SPECIAL:
            self.specials.append((self.at, length))
            self.at += length
        if len(self.specials) > SPECIAL_BLOCKS_MAX:
            self.problem = "too many sections and interfaces"
            return DAMAGED
        return status


class PcapngScan(BlockScan):
    """The packets of a pcapng file."""

    first_number = 1
    """The number of the first packet."""
    packets_before = state_packets = dropped = redacted = 0
    """As in `SegmentScan`."""
    is_growing = False

    def __init__(self, window: FileWindow) -> None:
        super().__init__(window)
        is_section = window.head(_BLOCK_BYTES_MIN)[8:] in ORDERS
        self.problem = "" if is_section else "the section header has no byte order"
        self._clocks = np.zeros((0, _CLOCK_FIELDS), np.int64)

    def _scan(self, at: int, stop: int, packets: Packets, count: int) -> tuple[int, int, int]:
        loaded = self._window.loaded
        return scan_blocks(loaded, at, stop, self.is_big, self._clocks, packets, count)

    def _read_block(self, data: NDArray[np.uint8]) -> tuple[int, int]:
        head = data[:_BLOCK_BYTES_MIN].tobytes()
        order = ">" if self.is_big else "<"
        is_section = head[:4] == b"\n\r\r\n"
        if is_section:
            order = ORDERS.get(head[8:12], "")
            if not order:
                return DAMAGED, 0
        length: int = Struct(order + "I").unpack_from(head, 4)[0]
        shortest = _SECTION_BYTES_MIN if is_section else _INTERFACE_BYTES_MIN
        if length & 3 or not shortest <= length <= CAPTURE_BLOCK_BYTES_MAX:
            return DAMAGED, length
        if length > len(data):
            return CUT, length
        body = data[:length].tobytes()
        if body[-4:] != body[4:8]:
            return DAMAGED, length
        if is_section:
            self.is_big = order == ">"
            self._clocks = np.zeros((0, _CLOCK_FIELDS), np.int64)
            status = SPECIAL if self._options(body, 24, order) is not None else BAD_OPTIONS
        else:
            status = self._read_interface(body, order)
        return status, length

    def _read_interface(self, body: bytes, order: str) -> int:
        if len(self._clocks) >= CAPTURE_INTERFACES_MAX:
            self.problem = "too many interfaces"
            return DAMAGED
        link_type, _, snap_length = Struct(order + "HHI").unpack_from(body, 8)
        interface = Interface(link_type, snap_length)
        options = self._options(body, 16, order)
        if options is None:
            return BAD_OPTIONS
        for code, value in options:
            if code == TIME_RESOLUTION and len(value) == 1:
                interface.set_resolution(value[0])
            elif code == TIME_OFFSET and len(value) == 8:
                interface.offset_ns = Struct(order + "q").unpack(value)[0] * 1_000_000_000
        shift, divisor = 0, interface.divisor
        if interface.multiplier == 1_000_000_000 and divisor > 1:
            shift = divisor.bit_length() - 1
        if shift > _SHIFT_MAX or divisor > _TIME_MAX or abs(interface.offset_ns) > _TIME_MAX:
            return BAD_TIME
        clock = (link_type, snap_length, interface.multiplier, divisor, shift, interface.offset_ns)
        self._clocks = np.vstack((self._clocks, np.array([clock], np.int64)))
        return SPECIAL

    def _options(self, body: bytes, at: int, order: str) -> list[tuple[int, bytes]] | None:
        """The first eight options about the clock; None if an option overruns the block."""
        head, stop = Struct(order + "HH"), len(body) - 4
        found: list[tuple[int, bytes]] = []
        while at + 4 <= stop:
            code, length = head.unpack_from(body, at)
            at += 4
            if code == END_OF_OPTIONS:
                break
            if at + length > stop:
                return None
            if code in (TIME_RESOLUTION, TIME_OFFSET) and len(found) < 8:
                found.append((code, body[at : at + length]))
            at += length + 3 & ~3
        return found


@inlined
def _overruns(data: Bytes, at: int, stop: int, is_big: bool) -> bool:
    """Whether an option of a packet overruns its block."""
    while at + 4 <= stop:
        code, length = u16(data, at, is_big), u16(data, at + 2, is_big)
        at += 4
        if code == END_OF_OPTIONS:
            return False
        if at + length > stop:
            return True
        at += length + 3 & ~3
    return False


@inlined
def _time_ns(clocks: Numbers, index: int, high: int, low: int) -> int:
    """In nanoseconds, without the offset; -1 if it does not fit."""
    if high >= 0x4000_0000:
        return -1
    units = high << 32 | low
    shift: int = clocks[index, _SHIFT]
    divisor: int = clocks[index, _DIVISOR]
    if shift:
        whole, part = units >> shift, units & (1 << shift) - 1
        if whole > _TIME_MAX // 1_000_000_000:
            return -1
        return whole * 1_000_000_000 + (part * 1_000_000_000 >> shift)
    if divisor > 1:
        return units // divisor
    multiplier: int = clocks[index, _MULTIPLIER]
    return units * multiplier if units <= _TIME_MAX // multiplier else -1


@uncounted_entry
def scan_blocks(
    data: Bytes, at: int, stop: int, is_big: bool, clocks: Numbers, out: Packets, count: int
) -> tuple[int, int, int]:
    size, room, interfaces = len(data), len(out.start), len(clocks)
    while at < stop:
        if at == size:
            return END, at, count
        if count == room:
            return FULL, at, count
        if at + _BLOCK_BYTES_MIN > size:
            return CUT, at, count
        kind, length = u32(data, at, is_big), u32(data, at + 4, is_big)
        if kind == SECTION:
            return SPECIAL, at, count
        if length & 3 or not _BLOCK_BYTES_MIN <= length <= CAPTURE_BLOCK_BYTES_MAX:
            return DAMAGED, at, count
        if kind == INTERFACE:
            return SPECIAL, at, count
        is_packet = kind in (PACKET, OLD_PACKET)
        if is_packet and length < _PACKET_BYTES_MIN:
            return DAMAGED, at, count
        if kind == SIMPLE_PACKET and length < _SIMPLE_PACKET_BYTES_MIN:
            return DAMAGED, at, count
        if at + length > size:
            return CUT, at, count
        last = at + length - 4
        if u32(data, last, is_big) != length:
            return DAMAGED, at, count
        if not is_packet and kind != SIMPLE_PACKET:
            at += length
            continue
        index, time_ns = 0, 0
        if is_packet:
            index = u16(data, at + 8, is_big) if kind == OLD_PACKET else u32(data, at + 8, is_big)
            captured, original = u32(data, at + 20, is_big), u32(data, at + 24, is_big)
            start = at + 28
        else:
            original = u32(data, at + 8, is_big)
            start = at + 12
            captured = min(original, last - start)
            if interfaces and clocks[0, _SNAP_LENGTH]:
                captured = min(captured, clocks[0, _SNAP_LENGTH])
        if index >= interfaces:
            return UNKNOWN_INTERFACE, at, count
        if captured > last - start or captured > PACKET_BYTES_MAX:
            return TOO_LONG, at, count
        if is_packet:
            time_ns = _time_ns(
                clocks, index, u32(data, at + 12, is_big), u32(data, at + 16, is_big)
            )
            if time_ns < 0:
                return BAD_TIME, at, count
            time_ns += clocks[index, _OFFSET_NS]
        if _overruns(data, start + (captured + 3 & ~3), last, is_big):
            return BAD_OPTIONS, at, count
        out.time_ns[count] = time_ns
        out.start[count] = start
        out.captured[count] = captured
        out.original[count] = max(captured, original)
        out.link_type[count] = clocks[index, _LINK_TYPE]
        out.interface[count] = index
        count += 1
        at += length
    return (END if at == size else FULL), at, count


@uncounted_entry
def has_block(data: Bytes, at: int, is_big: bool) -> bool:
    """Whether any bytes from here on look like a complete block of a known type."""
    size = len(data)
    while at + _BLOCK_BYTES_MIN <= size:
        kind = u32(data, at, is_big)
        if 1 <= kind <= 10 or kind == SECTION:
            for order in range(2):
                length = u32(data, at + 4, order == 1)
                is_whole = _BLOCK_BYTES_MIN <= length <= size - at
                if is_whole and u32(data, at + length - 4, order == 1) == length:
                    return True
        at += 1
    return False
