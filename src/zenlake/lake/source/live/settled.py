"""Settled rows: rows of queries and replies, once nothing can change the outcome of the query.

A query is settled at its final response, when its session ends, when its number is used again, or
with the first packet after its deadline. A batch has the queries that were open at its start or
asked in it, and that are settled at its end. Its task reads from the batch with the oldest of these
requests on, and derives rows by the same steps as for captures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zenlake.lake.derive.duck.build import QUERIES, build_tables
from zenlake.lake.derive.duck.engine import Engine
from zenlake.lake.exact_reader.exact_tables import Tables
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.written import WRITTEN
from zenlake.lake.source.live.planner import Piece
from zenlake.lake.source.live.range_rows import adding_to, read_piece
from zenlake.trace.rows.seq import ORDINAL_BITS

EVENTS: Final = "exchange_events"
DECLARATIONS: Final = "declare_events"
SESSIONS: Final = "sessions"
_DEADLINE_MS_MAX: Final = 1e11
"""A longer timeout counts as none, as in `derive/steps/requests.py`."""
_COLUMNS: Final = ("session", "link", "side", "request_id", "kind", "seq", "time_ns", "timeout_ms")

Request = tuple[str, int]
"""Link and `seq` of a REQUEST."""


class Range(NamedTuple):
    """The events of some packets."""

    is_inside: bool
    """Whether the packets are in the batch, not before it."""
    tables: Tables
    last_ns: int
    """The time of the last packet."""


class SettledBatch(Protocol):
    """The input of a batch's task."""

    @property
    def first(self) -> int:
        """The number of the last packet before the batch, known after the earlier ranges."""
        ...

    def ranges(self, capture: str) -> Iterator[Range]:
        """The ranges, from the oldest request on that is open at the start of the batch."""
        ...

    def placed(self, rows: pa.Table, capture: str) -> pa.Table:
        """Rows with the capture and the packet numbers that users see."""
        ...


class SettledPieces(NamedTuple):
    """Pieces of a recording."""

    before: tuple[Piece, ...]
    pieces: tuple[Piece, ...]

    @property
    def first(self) -> int:
        return self.pieces[0].first

    def ranges(self, capture: str) -> Iterator[Range]:
        for number, piece in enumerate((*self.before, *self.pieces)):
            # Declarations that are alive at the beginning explain why there was no answer.
            chosen = piece._replace(with_earlier_declarations=number == 0)
            found, last_ns = read_events(chosen, capture, (EVENTS, DECLARATIONS, SESSIONS))
            yield Range(number >= len(self.before), found, last_ns)

    def placed(self, rows: pa.Table, capture: str) -> pa.Table:
        return rows


class _Open(NamedTuple):
    request: Request
    deadline_ns: int | None
    batch: Any
    """The start of the micro-batch with the request."""


class OpenRequests:
    """Requests without an outcome, and in `seen` those since the caller cleared it."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int, int], _Open] = {}
        self.seen: set[Request] = set()

    @property
    def requests(self) -> set[Request]:
        return {one.request for one in self._open.values()}

    @property
    def batches(self) -> list[Any]:
        """The batches with open requests."""
        return [one.batch for one in self._open.values()]

    def feed(self, tables: Tables, last_ns: int, batch: Any = None) -> None:
        """The events of a piece, and the time of its last packet."""
        for part in tables.get(EVENTS, ()):
            columns = [part[name].to_pylist() for name in _COLUMNS]
            for session, link, side, number, kind, seq, time_ns, timeout in zip(
                *columns, strict=True
            ):
                if kind == "REQUEST":
                    deadline = None
                    if timeout is not None and timeout <= _DEADLINE_MS_MAX:
                        deadline = time_ns + int(timeout * 1e6)
                    self._open[session, side, number] = _Open((link, seq), deadline, batch)
                    self.seen.add((link, seq))
                elif kind == "FINAL":
                    self._open.pop((session, side, number), None)
        closed = ended_sessions(tables)
        for place, one in list(self._open.items()):
            is_late = one.deadline_ns is not None and last_ns > one.deadline_ns
            if is_late or place[0] in closed:
                del self._open[place]


def ended_sessions(tables: Tables) -> set[str]:
    """The sessions that have ended.

    A session that was silent until the last packet may continue afterwards.
    """
    names = ("session", "closed_ns", "ended_by")
    return {
        session
        for part in tables.get(SESSIONS, ())
        for session, closed_ns, ended_by in zip(
            *(part[name].to_pylist() for name in names), strict=True
        )
        if closed_ns is not None and ended_by != "lease"
    }


def read_events(piece: Piece, capture: str, tables: tuple[str, ...]) -> tuple[Tables, int]:
    """The events of a piece, and the time of its last packet."""
    found: Tables = {}
    return found, read_piece(piece, capture, tables, adding_to(found))


def settled_rows(batch: SettledBatch, capture: str, table: str) -> Iterator[pa.Table]:
    """The rows of queries that are settled in the batch, or of their replies."""
    requests = OpenRequests()
    events: Tables = {}
    add_events = adding_to(events)
    last_ns = 0
    opened: set[Request] = set()
    was_inside = False
    for is_inside, found, range_ns in batch.ranges(capture):
        if is_inside and not was_inside:
            opened = requests.requests
            requests.seen = set()
            was_inside = True
        last_ns = max(last_ns, range_ns)
        requests.feed(found, last_ns)
        add_events(found)
    first_seq = batch.first + 1 << ORDINAL_BITS
    still_open = requests.requests
    chosen = (opened | requests.seen) - still_open
    events[SESSIONS] = [_last_of_each(events.get(SESSIONS, []))]
    if not events.get(EVENTS):
        return
    for rows in _derived(events, capture, last_ns, table):
        if table == "queries":
            mask = _in(rows, "seq", chosen)
        else:
            is_new = pc.greater_equal(rows["seq"], first_seq)
            of_chosen = _in(rows, "query_seq", chosen)
            of_open = _in(rows, "query_seq", still_open)
            mask = pc.or_(of_chosen, pc.and_(is_new, pc.invert(of_open)))
        found_rows = rows.filter(mask)
        if found_rows.num_rows:
            yield batch.placed(found_rows, capture)


def _in(rows: pa.Table, column: str, requests: set[Request]) -> pa.Array:
    pairs = zip(rows["link"].to_pylist(), rows[column].to_pylist(), strict=True)
    return pa.array([pair in requests for pair in pairs], pa.bool_())


def _last_of_each(parts: list[pa.Table]) -> pa.Table:
    """The last row of each session: every piece has a row, and the last one is most complete."""
    schema = WRITTEN[SESSIONS].base.arrow
    whole = pa.concat_tables(parts) if parts else schema.empty_table()
    last = {name: place for place, name in enumerate(whole["session"].to_pylist())}
    return _with_silent_ones(whole.take(pa.array(sorted(last.values()), pa.int64())))


def _with_silent_ones(sessions: pa.Table) -> pa.Table:
    """Marks sessions that were silent until the last packet as not ended (`ended_sessions`)."""
    is_silent = pc.fill_null(pc.equal(sessions["ended_by"], "lease"), False)
    for place, field in enumerate(sessions.schema):
        column = sessions[field.name]
        if field.name in ("closed_ns", "ended_by"):
            column = pc.if_else(is_silent, pa.scalar(None, field.type), column)
        elif field.name == "outcome":
            is_lost = pc.and_(is_silent, pc.equal(column, "lost"))
            column = pc.if_else(is_lost, pa.scalar("open", field.type), column)
        else:
            continue
        sessions = sessions.set_column(place, field, column)
    return sessions


def _derived(events: Tables, capture: str, last_ns: int, table: str) -> Iterator[pa.Table]:
    with TemporaryDirectory(prefix="zenlake-") as name:
        folder = Path(name)
        files: dict[str, list[str]] = {}
        for one, parts in events.items():
            place = str(folder / f"{one}.parquet")
            pq.write_table(pa.concat_tables(parts), place)
            files[one] = [place]
        captures = pa.Table.from_pylist(
            [{"capture": capture, "last_ns": last_ns}], TABLES["captures"].arrow
        )
        captures_file = str(folder / "captures.parquet")
        pq.write_table(captures, captures_file)
        with Engine(folder) as engine:
            for frame in build_tables(engine, [files], [captures_file], builds=[QUERIES])[table]:
                for batch in frame.batches():
                    yield pa.Table.from_batches([batch])
