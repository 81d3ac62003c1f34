"""Packets: a stretch of a capture file as arrays, a row for each packet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zenlake.capture.packet import Packet

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS: Final = 262_144
"""Packets in one stretch at most."""


class Packets(NamedTuple):
    """Position and record header of each packet. Packet numbers are consecutive."""

    time_ns: NDArray[np.int64]
    start: NDArray[np.int64]
    captured: NDArray[np.int64]
    original: NDArray[np.int64]
    link_type: NDArray[np.int64]
    interface: NDArray[np.int64]


def empty_packets(rows: int) -> Packets:
    return Packets(*(np.zeros(rows, np.int64) for _ in Packets._fields))


def packets_of(
    packets: Packets, rows: NDArray[np.int64], number: int, data: NDArray[np.uint8]
) -> list[Packet]:
    """Some rows as packets for the exact reader; `number` is that of row 0."""
    view = data.data
    numbers = (rows + number).tolist()
    columns = (column[rows].tolist() for column in packets)
    return [
        Packet(one, time_ns, link_type, bytes(view[start : start + size]), original, interface)
        for one, time_ns, start, size, original, link_type, interface in zip(
            numbers, *columns, strict=True
        )
    ]
