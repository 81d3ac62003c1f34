# Parts: af2ecf3f3ae0c008
"""PcapScan: the records of a classic capture file, as long as each is certainly valid.

The exact reader (capture/pcap.py) judges a record by the times around it. Here all times must be so
near to the first one that it would accept every record; other files are left to it.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from zenlake.capture.pcap import MAGICS
from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.scan.numbers import Bytes, byte, u32, uncounted_entry
from zenlake.lake.fast_reader.scan.packets import Packets
from zenlake.lake.fast_reader.scan.statuses import BAD_TIME, CUT, DAMAGED, END, FULL
from zenlake.limits import PACKET_BYTES_MAX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.scan.file_window import FileWindow

_FILE_HEADER_BYTES: Final = 24
_RECORD_HEADER_BYTES: Final = 16
_LINK_TYPE_MASK: Final = 0xFFFF
_ORIGINAL_BYTES_MAX: Final = (1 << 24) - 1
_APART_SECONDS_MAX: Final = 1 << 23
"""From the first time. The exact reader accepts any two times within this distance of it."""


class PcapScan:
    """Stretches of packets, one after the other."""

    first_number = 1
    """The number of the first packet."""
    packets_before = state_packets = dropped = redacted = 0
    """As in `SegmentScan`."""
    is_growing = False

    def __init__(self, window: FileWindow) -> None:
        self.at = _FILE_HEADER_BYTES
        """The offset of the next record in the file."""
        self._window = window
        head = window.head(_FILE_HEADER_BYTES + 4)
        self.problem = "" if len(head) >= _FILE_HEADER_BYTES else "the header of the file is cut"
        order, self._second = MAGICS[head[:4]]
        self._is_big = order == ">"
        # The link type, and the time of the first record if there is one.
        link_type, self._first_seconds = Struct(order + "II").unpack(head[20:].ljust(8, b"\0"))
        self._link_type = link_type & _LINK_TYPE_MASK
        self.specials: list[tuple[int, int]] = []
        """Always empty: only pcapng has such blocks."""

    def seek(self, at: int, specials: NDArray[np.int64]) -> bool:
        """Continues at the record at `at`; a record depends on no earlier one."""
        self.at = at
        return not len(specials)

    def fill(self, packets: Packets, stop: int) -> tuple[int, int]:
        """Scans loaded packets that begin before `stop`; why it stopped, and their number."""
        window = self._window
        status, at, count = scan_records(
            window.loaded,
            window.position(self.at),
            window.position(stop),
            self._is_big,
            self._second,
            self._link_type,
            self._first_seconds,
            packets,
        )
        self.at = window.offset_of(at)
        return status, count

    def may_resume(self) -> bool:
        """Whether the exact reader might find another record after the truncated one."""
        window = self._window
        at = window.position(self.at) + 1
        return has_record(window.loaded, at, self._is_big, self._second)


@inlined
def _is_magic(data: Bytes, at: int) -> bool:
    """Whether another capture file was appended here."""
    first, second, third, fourth = (
        byte(data, at),
        byte(data, at + 1),
        byte(data, at + 2),
        byte(data, at + 3),
    )
    if first == 0xA1:
        return second == 0xB2 and (third == 0xC3 or third == 0x3C)
    return fourth == 0xA1 and third == 0xB2


@uncounted_entry
def scan_records(
    data: Bytes,
    at: int,
    stop: int,
    is_big: bool,
    second: int,
    link_type: int,
    first_seconds: int,
    out: Packets,
) -> tuple[int, int, int]:
    size, count, room = len(data), 0, len(out.start)
    scale = 1_000_000_000 // second
    while at < stop:
        if at == size:
            return END, at, count
        if count == room:
            return FULL, at, count
        start = at + _RECORD_HEADER_BYTES
        if start > size:
            return CUT, at, count
        seconds, fraction = u32(data, at, is_big), u32(data, at + 4, is_big)
        captured, original = u32(data, at + 8, is_big), u32(data, at + 12, is_big)
        if _is_magic(data, at) or captured > PACKET_BYTES_MAX:
            return DAMAGED, at, count
        if start + captured > size:
            return CUT, at, count
        if not 0 < captured <= original <= _ORIGINAL_BYTES_MAX or fraction >= second:
            return DAMAGED, at, count
        if not -_APART_SECONDS_MAX < seconds - first_seconds < _APART_SECONDS_MAX:
            return BAD_TIME, at, count
        out.time_ns[count] = seconds * 1_000_000_000 + fraction * scale
        out.start[count] = start
        out.captured[count] = captured
        out.original[count] = original
        out.link_type[count] = link_type
        out.interface[count] = 0
        count += 1
        at = start + captured
    return (END if at == size else FULL), at, count


@uncounted_entry
def has_record(data: Bytes, at: int, is_big: bool, second: int) -> bool:
    """Whether any bytes from here on look like a complete record."""
    size = len(data)
    while at + _RECORD_HEADER_BYTES <= size:
        fraction, captured = u32(data, at + 4, is_big), u32(data, at + 8, is_big)
        original = u32(data, at + 12, is_big)
        if captured <= original and 0 < original <= _ORIGINAL_BYTES_MAX and fraction < second:
            follows = at + _RECORD_HEADER_BYTES + captured
            if follows == size or follows + _RECORD_HEADER_BYTES <= size:
                return True
        at += 1
    return False
