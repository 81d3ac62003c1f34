"""Events of rotated captures for a batch of `queries` or `replies`.

The planning process sends them to the task, or the task reads them. Steps order events by their
packets, so packets are counted from the file with the oldest open request. In the rows, each packet
has its number in its own file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from zenlake.lake.exact_reader.exact_tables import Tables
from zenlake.lake.schema.written import WRITTEN
from zenlake.lake.source.live.capture_reader import CaptureReader, FileStart, shifted
from zenlake.lake.source.live.capture_rows import packed, unpacked
from zenlake.lake.source.live.planner import Piece
from zenlake.lake.source.live.range_rows import adding_to
from zenlake.lake.source.live.settled import (
    DECLARATIONS,
    EVENTS,
    SESSIONS,
    Range,
    ended_sessions,
)
from zenlake.trace.rows.seq import ORDINAL_BITS

EVENT_TABLES: Final = (EVENTS, DECLARATIONS, SESSIONS)
_IDENTITY: Final = ("session", "owner", "entity", "identity")
_NUMBERED: Final = ("seq", "query_seq", "trace_id")


class PlannedEvents(NamedTuple):
    """The events of a batch and those before it, as Arrow streams."""

    parts: tuple[tuple[bool, dict[str, bytes], int], ...]
    first: int
    files: tuple[FileStart, ...]

    @classmethod
    def of(
        cls, ranges: list[tuple[bool, Tables, int]], first: int, starts: list[FileStart]
    ) -> Self:
        """From ranges whose packets are counted through all files; `starts` are these files."""
        shift = -starts[0].before
        parts = [_packed(*one, shift) for one in ranges]
        return cls(tuple(parts), first + shift, _files(starts, shift))

    def ranges(self, capture: str) -> Iterator[Range]:
        for is_inside, tables, last_ns in self.parts:
            found = {name: [unpacked(data)] for name, data in tables.items()}
            yield Range(is_inside, found, last_ns)

    def placed(self, rows: pa.Table, capture: str) -> pa.Table:
        return _placed(rows, capture, self.files)


class CaptureEvents:
    """Captures whose events one task reads."""

    def __init__(self, before: Iterable[Piece], pieces: Iterable[Piece]) -> None:
        self._before = tuple(before)
        self._pieces = tuple(pieces)
        self._files: tuple[FileStart, ...] = ()
        self.first = 0
        """The number of the last packet before the batch, set when the earlier ranges are read."""

    def ranges(self, capture: str) -> Iterator[Range]:
        reader = CaptureReader(capture)
        pieces = (*self._before, *self._pieces)
        alive = AliveDeclarations()
        alive.feed(reader.skip_to(pieces[0], (DECLARATIONS, SESSIONS)))
        shift = -reader.starts[-1].before
        number = len(reader.starts) - 1
        yield Range(False, _shifted(alive.tables(), shift), 0)
        for place, piece in enumerate(pieces):
            if place == len(self._before):
                reader.skip_to(piece)
                self.first = reader.starts[-1].before + shift + piece.first
            found, last_ns = _read(reader, piece)
            yield Range(place >= len(self._before), _shifted(found, shift), last_ns)
        self._files = _files(reader.starts[number:], shift)

    def placed(self, rows: pa.Table, capture: str) -> pa.Table:
        return _placed(rows, capture, self._files)


class AliveDeclarations:
    """Declarations that have not ended, as in the state at the start of a segment."""

    def __init__(self) -> None:
        self._alive: dict[tuple[Any, ...], dict[str, Any]] = {}

    def feed(self, found: Tables) -> None:
        for part in found.get(DECLARATIONS, ()):
            for row in part.to_pylist():
                identity = tuple(row[name] for name in _IDENTITY)
                if row["is_end"]:
                    self._alive.pop(identity, None)
                else:
                    self._alive[identity] = row
        closed = ended_sessions(found)
        if closed:
            self._alive = {key: row for key, row in self._alive.items() if key[0] not in closed}

    def tables(self) -> Tables:
        rows = list(self._alive.values())
        schema = WRITTEN[DECLARATIONS].base.arrow
        return {DECLARATIONS: [pa.Table.from_pylist(rows, schema)]} if rows else {}


def _read(reader: CaptureReader, piece: Piece) -> tuple[Tables, int]:
    """The events of a piece, counted through all files, and the time of its last packet."""
    found: Tables = {}
    return found, reader.read(piece, EVENT_TABLES, adding_to(found), is_through=True)


def size_of(tables: Tables) -> int:
    return sum(part.nbytes for parts in tables.values() for part in parts)


def _shifted(tables: Tables, shift: int) -> Tables:
    return {name: [shifted(part, shift) for part in parts] for name, parts in tables.items()}


def _packed(
    is_inside: bool, tables: Tables, last_ns: int, shift: int
) -> tuple[bool, dict[str, bytes], int]:
    moved = _shifted(tables, shift)
    return is_inside, {name: packed(pa.concat_tables(moved[name])) for name in moved}, last_ns


def _files(starts: list[FileStart], shift: int) -> tuple[FileStart, ...]:
    return tuple(start._replace(before=start.before + shift) for start in starts)


def _placed(rows: pa.Table, capture: str, files: tuple[FileStart, ...]) -> pa.Table:
    """Rows with the file of each packet, and the packet's number in that file."""

    def file_of(packet: int) -> FileStart:
        return next(file for file in reversed(files) if packet > file.before or file is files[0])

    for name in _NUMBERED:
        if name in rows.column_names:
            numbers = [
                None
                if number is None
                else number - (file_of(number >> ORDINAL_BITS).before << ORDINAL_BITS)
                for number in rows[name].to_pylist()
            ]
            rows = _with(rows, name, numbers)
    found = [file_of(packet) for packet in rows["packet"].to_pylist()]
    before = pa.array([file.before for file in found], pa.int64())
    rows = _with(rows, "capture", [os.path.join(capture, file.file) for file in found])
    return _with(rows, "packet", pc.subtract(rows["packet"], before))


def _with(rows: pa.Table, name: str, values: Any) -> pa.Table:
    place = rows.column_names.index(name)
    field = rows.schema.field(name)
    column = values if isinstance(values, pa.ChunkedArray) else pa.array(values, field.type)
    return rows.set_column(place, field, column)
