"""SettledPlanner: finds the requests of a recording that are open at the end of each batch.

`SettledCaptures` does the same for rotated captures.
"""

from __future__ import annotations

from zenlake.lake.source.live.offsets import Offset
from zenlake.lake.source.live.planner import Piece, Planner
from zenlake.lake.source.live.settled import (
    EVENTS,
    SESSIONS,
    OpenRequests,
    SettledPieces,
    read_events,
)


class SettledPlanner:
    """Reads the events of each batch in the planning process, to find its oldest open request."""

    def __init__(self, planner: Planner, capture: str) -> None:
        self._planner = planner
        self._capture = capture
        self._requests = OpenRequests()
        self._at: Offset | None = None

    def after(self, start: Offset, end: Offset) -> Offset:
        """The end of a batch, with the beginning of the batch of its oldest open request."""
        if self._at is None or self._at != start.plain():
            self._requests = OpenRequests()
            if start.oldest_open is not None:
                self._read(start.oldest_open, start)
        self._read(start, end)
        self._requests.seen.clear()
        self._at = end
        batches: list[Offset] = self._requests.batches
        oldest = min(batches, key=_order, default=None)
        return end._replace(oldest_open=oldest)

    def _read(self, start: Offset, end: Offset) -> None:
        for piece in self._planner.pieces(start, end, 1):
            found, last_ns = read_events(piece, self._capture, (EVENTS, SESSIONS))
            self._requests.feed(found, last_ns, start.plain())

    def plan(self, start: Offset, end: Offset) -> SettledPieces | None:
        before: tuple[Piece, ...] = ()
        if start.oldest_open is not None:
            before = tuple(self._planner.pieces(start.oldest_open, start.plain(), 1))
        pieces = tuple(self._planner.pieces(start.plain(), end.plain(), 1))
        return SettledPieces(before, pieces) if pieces else None


def _order(offset: Offset) -> tuple[int, int]:
    return int(offset.segment or 0), offset.position
