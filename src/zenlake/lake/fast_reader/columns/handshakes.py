"""Handshakes: batches that begin and end sessions, and when each side last sent something."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple

import numpy as np

from zenlake import columnar
from zenlake.lake.fast_reader.assemble.units import Units
from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.wire.headers import CLOSE_ID, ID_BITS, INIT_ID, OPEN_ID

_IDS: Final = (INIT_ID, OPEN_ID, CLOSE_ID)


class HandshakeBatch(NamedTuple):
    """A batch of INIT, OPEN or CLOSE."""

    packet: int
    pair: int
    direction: int
    time_ns: int
    row: int
    """Row of its first message."""
    content: bytes

    @property
    def is_close(self) -> bool:
        return self.content[0] & ID_BITS == CLOSE_ID


def handshake_batches(decoded: Decoded) -> list[HandshakeBatch]:
    units = decoded.units
    ids = units.data[units.bounds[:-1]] & ID_BITS
    is_one = np.isin(ids, _IDS) & (units.form <= columnar.LOW_LATENCY)
    found = np.flatnonzero(is_one)
    view = units.data.data
    places = (units.packet, units.pair, units.direction, units.time_ns)
    columns = [column[found].tolist() for column in places]
    rows = np.searchsorted(decoded.unit, found).tolist()
    bounds = zip(units.bounds[found].tolist(), units.bounds[found + 1].tolist(), strict=True)
    contents = [bytes(view[start:stop]) for start, stop in bounds]
    return [HandshakeBatch(*one) for one in zip(*columns, rows, contents, strict=True)]


class LastSeen:
    """The times at which each direction of each connection sent something."""

    __slots__ = ("_last_packet", "_latest", "_packets", "_spans")

    def __init__(self, units: Units) -> None:
        owners = units.pair.astype(np.int64) * 2 + units.direction
        order = np.argsort(owners, kind="stable")
        if len(units) and units.packet[0] <= 0:
            # Not of the state of a recording, which may lack the last thing that a node sent.
            order = order[units.packet[order] > 0]
        owners, times = owners[order], units.time_ns[order]
        is_first = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
        starts = np.flatnonzero(is_first)
        stops = np.append(starts[1:], len(owners))[: len(starts)]
        spans = zip(starts.tolist(), stops.tolist(), strict=True)
        self._spans = dict(zip(owners[starts].tolist(), spans, strict=True))
        self._packets = units.packet[order].tolist()
        self._last_packet = max(self._packets, default=0)
        # The clock of a capture may go backwards, which is rare.
        is_back = np.append(False, times[1:] < times[:-1])[: len(times)] & ~is_first
        for owner in np.unique(owners[is_back]).tolist():
            span = slice(*self._spans[owner])
            times[span] = np.maximum.accumulate(times[span])
        self._latest = times.tolist()
        """For each unit the latest time up to it in the same direction."""

    def pairs(self) -> set[int]:
        return {owner >> 1 for owner in self._spans}

    def before(self, owner: int, packet: int) -> int:
        """The latest time up to a packet; 0 if there is none."""
        first, last = self._spans.get(owner, (0, 0))
        # Most calls are about the end of a chunk.
        is_end = packet >= self._last_packet
        place = last if is_end else bisect_right(self._packets, packet, first, last)
        return self._latest[place - 1] if place > first else 0
