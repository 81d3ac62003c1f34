"""Hole: missing bytes of a TCP stream, and what is held behind them."""

from __future__ import annotations

from typing import Final

from zenlake.capture.byte_ranges import ByteRanges

MASK: Final = 0xFFFFFFFF
UNKNOWN: Final = -1


def distance(seq: int, other: int) -> int:
    """How far `seq` is ahead of `other`, on a circle of 2^32."""
    return ((seq - other + 0x80000000) & MASK) - 0x80000000


class Hole:
    """Bytes held behind missing ones. Places count from the byte expected when it opened."""

    __slots__ = ("counted", "fin", "place", "ranges", "segments", "since_ns")

    def __init__(self, now_ns: int) -> None:
        self.place = 0
        self.ranges = ByteRanges()
        self.fin = UNKNOWN
        self.segments = 0
        self.since_ns = now_ns
        self.counted = 0

    def next_place(self) -> int:
        """The place of the first held byte, or of the FIN."""
        starts = self.ranges.starts
        if not starts:
            return self.fin
        return starts[0] if self.fin == UNKNOWN else min(starts[0], self.fin)
