# Parts: 6ecb8c285f114191
"""PcapScan: the records of a classic capture file, as long as each is beyond doubt.

The scalar reader (capture/pcap.py) believes a record by the times around it. Here all times
must lie so near the first that it never doubts any; all else is left to it.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from zenlake.capture.pcap import MAGICS
from zenlake.columnar.jit import inlined
from zenlake.lake.bulk.numbers import Bytes, byte, u32, uncounted_entry
from zenlake.lake.bulk.packets import Packets
from zenlake.lake.bulk.statuses import BAD_TIME, CUT, DAMAGED, END, FULL
from zenlake.limits import PACKET_BYTES_MAX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FILE_HEADER_BYTES: Final = 24
_RECORD_HEADER_BYTES: Final = 16
_LINK_TYPE_MASK: Final = 0xFFFF
_ORIGINAL_BYTES_MAX: Final = (1 << 24) - 1
_APART_SECONDS_MAX: Final = 1 << 23
"""From the first time; two that are so near to it are near to each other for the scalar reader."""


class PcapScan:
    """Stretches of packets, one after the other."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.at = _FILE_HEADER_BYTES
        self._data = data
        self.problem = "" if len(data) >= _FILE_HEADER_BYTES else "the header of the file is cut"
        order, self._second = MAGICS[data[:4].tobytes()]
        self._is_big = order == ">"
        # The link type, and the time of the first record if there is one.
        head = data[20:28].tobytes().ljust(8, b"\0")
        link_type, self._first_seconds = Struct(order + "II").unpack(head)
        self._link_type = link_type & _LINK_TYPE_MASK

    def fill(self, packets: Packets, stop: int) -> tuple[int, int]:
        """Packets up to about `stop` in the file: why it ended, and how many there are."""
        status, self.at, count = scan_records(
            self._data,
            self.at,
            stop,
            self._is_big,
            self._second,
            self._link_type,
            self._first_seconds,
            packets,
        )
        return status, count

    def may_go_on(self) -> bool:
        """Whether the scalar reader might find a record behind the place where the file is cut."""
        return has_record(self._data, self.at + 1, self._is_big, self._second)


@inlined
def _is_magic(data: Bytes, at: int) -> bool:
    """Of another file put at the end of this one."""
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
    """Whether anything from here on looks like a record that is followed by something."""
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
