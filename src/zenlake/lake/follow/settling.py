"""Settling: determines which rows of derived tables are final, and drops their events.

While there are few events, all of them are kept, and every version derives all rows again. When
there are many, the rows that no later message changes are settled:

- queries and their replies, after their final response, or after their session and timeout have
ended. Requests with the same content may be hops of one query: they are settled in order, up to
a request that came when all requests before it were over.
- declarations and interests, after they have ended.

The end must be at least the grace time ago; messages that come even later do not change a settled
row. Some rows depend on the whole recording and are not settled: empty queries, whose cause may be
a queryable that is declared later; queryables; tokens of ROS 2, whose first announcement is
marked. If too many events are left, the oldest are given up: their rows do not change any more, and
a row of `losses` has the number of events.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.derive.duck import Engine, Frame
from zenlake.lake.derive.steps import declarations, exchanges, requests
from zenlake.lake.file_lists import File, Paths, paths_of
from zenlake.lake.jobs import Job
from zenlake.lake.parquet.parquet_files import ParquetFiles
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table
from zenlake.lake.schema.written import WRITTEN
from zenlake.ros.token import MARK

EVENTS: Final = ("exchange_events", "declare_events", "interest_events")
"""The tables whose rows can be settled."""
_ROWS_OF: Final = {
    "queries": "exchange_events",
    "replies": "exchange_events",
    "declarations": "declare_events",
    "interests": "interest_events",
}
"""By derived table, the table of events whose link and seq its rows have."""
SETTLED_TABLES: Final = frozenset(_ROWS_OF)
_NEVER: Final = 2**63 - 1

_CUT: Final = """
SELECT coalesce(max(seq), -1) + 1 FROM (
    SELECT seq FROM {exchange_events} WHERE time_ns < {cut_ns}
    UNION ALL SELECT seq FROM {declare_events} WHERE time_ns < {cut_ns}
    UNION ALL SELECT seq FROM {interest_events} WHERE time_ns < {cut_ns}
)
"""

_OLDEST: Final = """
SELECT min(seq) FROM (
    SELECT seq FROM (
        SELECT seq FROM {exchange_events} UNION ALL SELECT seq FROM {declare_events}
        UNION ALL SELECT seq FROM {interest_events}
    ) ORDER BY seq DESC LIMIT {kept}
)
"""

# `over_seq`: a request with a greater seq is not a hop of this query.
_REQUESTS: Final = """
WITH answered AS (
    SELECT session_hash, query_seq, max(seq) AS last_seq FROM {{exchanges}}
    WHERE query_seq IS NOT NULL GROUP BY session_hash, query_seq
),
judged AS (
    SELECT requests.question, requests.session_hash, requests.seq, CASE
        WHEN requests.seq < {given_up_seq} THEN requests.seq
        WHEN last_seq >= {cut_seq} OR coalesce(queries.verdict = 'empty', false) THEN {never}
        WHEN final_seq IS NOT NULL THEN greatest(final_seq, last_seq)
        WHEN closed_ns < {cut_ns} AND deadline_ns < {cut_ns} THEN {cut_seq}
        ELSE {never} END AS over_seq
    FROM {{requests}} AS requests
    JOIN answered ON requests.seq = answered.query_seq
        AND requests.session_hash = answered.session_hash
    LEFT JOIN {{queries}} AS queries
        ON requests.seq = queries.seq AND requests.session = queries.session
    LEFT JOIN {{sessions}} AS sessions ON requests.session = sessions.session
),
walked AS (
    SELECT question, session_hash, seq,
        max(over_seq) OVER (PARTITION BY question ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reach,
        coalesce(lead(seq) OVER (PARTITION BY question ORDER BY seq), {never}) AS next_seq
    FROM judged
),
bounds AS (
    SELECT question, max(seq) AS last_seq FROM walked WHERE reach < next_seq GROUP BY question
)
SELECT walked.session_hash, walked.seq FROM walked
JOIN bounds ON walked.question = bounds.question WHERE walked.seq <= bounds.last_seq
"""

_EXCHANGES: Final = """
SELECT place, exchanges.seq FROM {{exchanges}} AS exchanges
LEFT JOIN {{settled}} AS settled
    ON exchanges.query_seq = settled.seq AND exchanges.session_hash = settled.session_hash
WHERE settled.seq IS NOT NULL OR (exchanges.query_seq IS NULL AND exchanges.seq < {cut_seq})
"""

_DECLARATIONS: Final = """
WITH named AS (
    SELECT identified.*, events.session, events.entity
    FROM {{identified}} AS identified
    JOIN {{events}} AS events ON identified.seq = events.seq
        AND identified.place = xxhash64(events.capture, events.link)
),
identities AS (
    SELECT scope, identity, is_answer, min(session) AS session, min(entity) AS entity,
        max(seq) AS last_seq, max_by(is_end, seq) AS is_ended,
        max(coalesce(entity = 'token' AND contains(key, '{mark}'), false)) AS is_ros
    FROM named GROUP BY scope, identity, is_answer
),
settled AS (
    SELECT identities.* FROM identities
    LEFT JOIN {{sessions}} AS sessions ON identities.session = sessions.session
    WHERE last_seq < {given_up_seq} OR (last_seq < {cut_seq}
        AND (is_answer OR is_ended OR coalesce(closed_ns < {cut_ns}, false))
        AND entity <> 'queryable' AND NOT is_ros)
)
SELECT named.place, named.seq FROM named
LEFT SEMI JOIN settled
    ON named.scope = settled.scope AND named.identity <=> settled.identity
    AND named.is_answer = settled.is_answer
"""

_INTERESTS: Final = """
WITH numbers AS (
    SELECT session, side, interest_id, max(seq) AS last_seq, max_by(event, seq) AS last_event,
        max_by(CASE WHEN event = 'open' THEN mode END, CASE WHEN event = 'open' THEN seq END)
            AS mode
    FROM {{events}} GROUP BY session, side, interest_id
),
settled AS (
    SELECT numbers.* FROM numbers
    LEFT JOIN {{sessions}} AS sessions ON numbers.session = sessions.session
    WHERE last_seq < {given_up_seq} OR (last_seq < {cut_seq}
        AND (last_event = 'close' OR coalesce(mode = 'current' AND last_event = 'final', false)
            OR coalesce(closed_ns < {cut_ns}, false)))
)
SELECT xxhash64(events.capture, events.link) AS place, events.seq FROM {{events}} AS events
LEFT SEMI JOIN settled
    ON events.session = settled.session AND events.side = settled.side
    AND events.interest_id = settled.interest_id
"""

_NODES: Final = """
SELECT capture, zid, role, locators, min(first_ns) AS first_ns, max(last_ns) AS last_ns, address
FROM {events} GROUP BY capture, zid, role, locators, address
"""


class Settled(NamedTuple):
    """The rows of derived tables, divided into final and other rows, and the remaining events."""

    files: list[File]
    """Files of final rows."""
    pending: list[File]
    events: Paths


def count_events(events: Paths) -> int:
    paths = [path for table in EVENTS for path in events.get(table, ())]
    return sum(int(pq.read_metadata(path).num_rows) for path in paths)


def settle(job: Job, folder: Path, events: Paths, derived: Paths) -> Settled:
    """`derived` has the files of derived tables, made from `events` and others.

    `settle_ns` of the job is the grace time, `events_max` the limit after which events are given
    up, `row` the row of `captures`.
    """
    with Engine(folder, 1, True, job["memory_bytes"]) as engine:
        return _Settling(engine, job, folder, events, derived).run()


class _Settling:
    def __init__(
        self, engine: Engine, job: Job, folder: Path, events: Paths, derived: Paths
    ) -> None:
        self._engine = engine
        self._job = job
        self._folder = folder
        self._derived = derived
        self._events = {
            table: engine.keep(engine.read(WRITTEN[table], events.get(table, ())))
            for table in (*EVENTS, "node_events")
        }
        # A session that was silent until the last packet may continue afterwards.
        ended = engine.read(WRITTEN["sessions"], job["sessions"]).filtered(
            "ended_by IS DISTINCT FROM 'lease'"
        )
        self._sessions = engine.keep(ended.select("session", "closed_ns"))
        self._queries = engine.keep(
            engine.read(TABLES["queries"], derived.get("queries", ())).select(
                "session", "seq", "verdict"
            )
        )

    def run(self) -> Settled:
        cut_ns = (self._job["row"]["last_ns"] or 0) - self._job["settle_ns"]
        names = {table: frame.name for table, frame in self._events.items()}
        cut_seq = self._number(_CUT.format(cut_ns=cut_ns, **names))
        values = {"cut_ns": cut_ns, "cut_seq": cut_seq, "never": _NEVER, "given_up_seq": -_NEVER}
        settled = self._settled(values)
        left = self._left(settled)
        given_up = 0
        if left > self._job["events_max"]:
            oldest = _OLDEST.format(kept=self._job["events_max"] // 2, **names)
            values["given_up_seq"] = self._number(oldest)
            settled = self._settled(values)
            given_up = left - self._left(settled)
        return self._written(settled, given_up)

    def _settled(self, values: dict[str, int]) -> dict[str, Frame]:
        """`place` and `seq` of the events that are not needed any more, by table."""
        engine = self._engine
        events: Any = self._events["exchange_events"]
        exchanged: Any = engine.keep(_frame(exchanges.build(events)))
        asked = engine.keep(_frame(requests.build(events, exchanged)))
        over = engine.sql(
            _REQUESTS.format(**values),
            exchanges=exchanged,
            requests=asked,
            queries=self._queries,
            sessions=self._sessions,
        )
        found = {
            "exchange_events": engine.sql(
                _EXCHANGES.format(**values), exchanges=exchanged, settled=engine.keep(over)
            )
        }
        declared: Any = self._events["declare_events"]
        found["declare_events"] = engine.sql(
            _DECLARATIONS.format(mark=MARK, **values),
            identified=engine.keep(_frame(declarations.identified(declared))),
            events=declared,
            sessions=self._sessions,
        )
        found["interest_events"] = engine.sql(
            _INTERESTS.format(**values),
            events=self._events["interest_events"],
            sessions=self._sessions,
        )
        return {table: engine.keep(frame) for table, frame in found.items()}

    def _left(self, settled: dict[str, Frame]) -> int:
        counts = {
            table: self._number(f"SELECT count(*) FROM {self._events[table].name}")
            - self._number(f"SELECT count(*) FROM {settled[table].name}")
            for table in EVENTS
        }
        return sum(counts.values())

    def _written(self, settled: dict[str, Frame], given_up: int) -> Settled:
        files: list[File] = []
        pending: list[File] = []
        for table, of in _ROWS_OF.items():
            rows = self._engine.read(TABLES[table], self._derived.get(table, ()))
            files += self._write(TABLES, table, self._chosen(rows, settled[of], "SEMI"))
            pending += self._write(TABLES, table, self._chosen(rows, settled[of], "ANTI"))
        events: Paths = {}
        for table in EVENTS:
            left = self._chosen(self._events[table], settled[table], "ANTI")
            events[table] = paths_of(self._write(WRITTEN, table, left))
        nodes = self._engine.sql(_NODES, events=self._events["node_events"])
        written = self._write(WRITTEN, "node_events", nodes.conform(WRITTEN["node_events"]))
        events["node_events"] = paths_of(written)
        if given_up:
            files += self._loss(given_up)
        return Settled(files, pending, events)

    def _chosen(self, rows: Frame, settled: Frame, how: str) -> Frame:
        text = f"""SELECT rows.* FROM {{rows}} AS rows LEFT {how} JOIN {{settled}} AS settled
            ON rows.seq = settled.seq AND xxhash64(rows.capture, rows.link) = settled.place"""
        return self._engine.sql(text, rows=rows, settled=settled)

    def _write(self, kinds: dict[str, Table], table: str, frame: Frame) -> list[File]:
        files = ParquetFiles(self._folder, kinds)
        found = [batch for batch in frame.batches() if batch.num_rows]
        if found:
            files.write({table: [pa.Table.from_batches(found)]})
        return [one._asdict() for one in files.close()]

    def _loss(self, given_up: int) -> list[File]:
        row = self._job["row"]
        loss = {
            "capture": row["capture"],
            "packet": row["packets"],
            "time_ns": row["last_ns"],
            "kind": "given_up",
            "count": given_up,
            "cause": "more messages of open queries, declarations and interests than are kept: "
            "the rows of the oldest stay as they are",
        }
        files = ParquetFiles(self._folder, TABLES)
        files.write({"losses": [pa.Table.from_pylist([loss], TABLES["losses"].base.arrow)]})
        return [one._asdict() for one in files.close()]

    def _number(self, text: str) -> int:
        row = self._engine.connection.execute(text).fetchone()
        return int(row[0]) if row is not None and row[0] is not None else -1


def _frame(found: Any) -> Frame:
    """A cast: steps are annotated with Spark's types."""
    assert isinstance(found, Frame)
    return found
