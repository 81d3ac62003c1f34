"""SettledCaptures: `queries` and `replies` of rotated captures, read in the planning process.

It keeps the events since the oldest open request, and the declarations that were alive before, and
sends them to a task, which reads no file. If there are too many events, one task reads the files.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zenlake.lake.exact_reader.exact_tables import Tables
from zenlake.lake.source.live.capture_events import (
    EVENT_TABLES,
    AliveDeclarations,
    CaptureEvents,
    PlannedEvents,
    size_of,
)
from zenlake.lake.source.live.capture_reader import CaptureReader
from zenlake.lake.source.live.offsets import Offset
from zenlake.lake.source.live.planner import Piece, Planner
from zenlake.lake.source.live.settled import DECLARATIONS, SESSIONS, OpenRequests

PLANNED_EVENTS_BYTES_MAX: Final = 32 << 20
"""The most bytes of events that the planning process keeps and sends to a task."""


class _Kept(NamedTuple):
    """The events of one micro-batch."""

    start: Offset
    end: Offset
    parts: list[tuple[Tables, int]]
    file: int
    """The index of its first file among the files that were read."""
    first: int
    """The number of the last packet before it, counted through all files."""


class SettledCaptures:
    """Used in the planning process."""

    def __init__(self, planner: Planner, capture: str) -> None:
        self._planner = planner
        self._capture = capture
        self._forget()

    def _forget(self) -> None:
        self._reader: CaptureReader | None = None
        self._requests = OpenRequests()
        self._alive = AliveDeclarations()
        """Declarations that were alive before the kept events."""
        self._kept: list[_Kept] = []
        self._kept_bytes = 0
        self._is_complete = True
        """Whether `_kept` has the events of all its batches; False if they were too large."""
        self._starts: dict[int, Offset] = {}
        """The starts of the batches with open requests, by the number of the batch."""
        self._batches = 0

    def after(self, start: Offset, end: Offset) -> Offset:
        """The end of a batch, with the beginning of the batch of its oldest open request."""
        end = end.plain()
        self._continue_from(start, end)
        self._read(start.plain(), end)
        open_batches = set(self._requests.batches)
        self._starts = {number: self._starts[number] for number in open_batches}
        oldest = self._starts[min(open_batches)] if open_batches else None
        return end._replace(oldest_open=oldest)

    def plan(self, start: Offset, end: Offset) -> PlannedEvents | CaptureEvents | None:
        """The events of a batch, which `after` has read; read again if it has not."""
        begin, stop = start.plain(), end.plain()
        if not (self._kept and (self._kept[-1].start, self._kept[-1].end) == (begin, stop)):
            self.after(start, end)
        if not self._kept:
            return None
        if not self._is_complete or self._reader is None:
            before = [] if start.oldest_open is None else self._pieces(start.oldest_open, begin)
            return CaptureEvents(before, self._pieces(begin, stop))
        ranges = [(False, self._alive.tables(), 0)]
        for one in self._kept:
            ranges += [(one is self._kept[-1], tables, last_ns) for tables, last_ns in one.parts]
        starts = self._reader.starts[self._kept[0].file :]
        return PlannedEvents.of(ranges, self._kept[-1].first, starts)

    def _pieces(self, start: Offset, end: Offset) -> list[Piece]:
        return self._planner.pieces(start, end, 1)

    def _continue_from(self, start: Offset, end: Offset) -> None:
        """Drops events before the oldest open request; reads again from there if necessary."""
        oldest, begin = start.oldest_open, start.plain()
        pieces = self._pieces(begin, end)
        is_next = bool(self._kept) and self._kept[-1].end == begin
        has_oldest = oldest is None or any(one.start == oldest for one in self._kept)
        reader = self._reader
        if not (is_next and has_oldest and reader and pieces and reader.is_before(pieces[0])):
            if reader is not None:
                reader.close()
            self._forget()
            if oldest is not None:
                self._read(oldest, begin)
        while self._kept and self._kept[0].start != oldest:
            gone = self._kept.pop(0)
            for tables, _ in gone.parts:
                self._alive.feed(tables)
                self._kept_bytes -= size_of(tables)
        if not self._kept:
            self._is_complete = True

    def _read(self, begin: Offset, end: Offset) -> None:
        pieces = self._pieces(begin, end)
        if not pieces:
            return
        reader, self._reader = self._reader, None
        if reader is None:
            reader = CaptureReader(self._capture)
            self._alive.feed(reader.skip_to(pieces[0], (DECLARATIONS, SESSIONS)))
        reader.skip_to(pieces[0])
        self._batches += 1
        self._starts[self._batches] = begin
        first = reader.starts[-1].before + pieces[0].first
        kept = _Kept(begin, end, [], len(reader.starts) - 1, first)

        def keep(found: Tables) -> None:
            self._feed(kept, found, 0)

        for piece in pieces:
            self._feed(kept, {}, reader.read(piece, EVENT_TABLES, keep, is_through=True))
        self._requests.seen.clear()
        self._kept.append(kept)
        # After an error the reader is dropped, because its position is undefined.
        self._reader = reader

    def _feed(self, kept: _Kept, found: Tables, last_ns: int) -> None:
        self._requests.feed(found, last_ns, self._batches)
        if self._kept_bytes + size_of(found) > PLANNED_EVENTS_BYTES_MAX:
            # Declarations are kept too: some are still alive when these batches are dropped.
            self._is_complete = False
            found = {name: found[name] for name in (DECLARATIONS, SESSIONS) if name in found}
        kept.parts.append((found, last_ns))
        self._kept_bytes += size_of(found)
