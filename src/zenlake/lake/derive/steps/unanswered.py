"""Unanswered: why queries ended without a reply, for `cause` and `reason` of `queries`.

The decision compares keys and needs all sessions of a capture. It is made in Python, by the class
that `zenlake why` uses too (`trace/timelines/unanswered.py`), from the sessions, the queryables,
and the requests of traces in which one has no reply, which are few.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema.spanning import SPANNING
from zenlake.trace.timelines.queryables import (
    Queryable,
    Queryables,
    hidden_text,
    undecoded_bytes,
)
from zenlake.trace.timelines.unanswered import Hop, explain, link_hops, reason

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SESSIONS, _QUERYABLES, _REQUESTS = 1, 2, 3

# Captures without an empty query are skipped.
_EMPTY: Final = """
SELECT capture, session, seq, trace_id
FROM {requests} AS requests
WHERE final_ns IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM {replies} AS replies
        WHERE replies.query_seq = requests.seq
        AND replies.session = requests.session
        AND replies.capture = requests.capture)
"""

_HOPS: Final = """
SELECT requests.capture, requests.session, requests.seq,
    coalesce(requests.trace_id, -requests.seq) AS trace_id, requests.time_ns,
    requests.final_ns, requests.requester_zid, requests.responder_zid, requests.key,
    requests.target, empty.seq IS NOT NULL AS is_empty,
    CASE WHEN requests.final_ns IS NULL
        AND coalesce(sessions.closed_ns <= requests.deadline_ns, true)
        THEN sessions.closed_ns END AS lost_ns
FROM {requests} AS requests
LEFT SEMI JOIN (SELECT DISTINCT capture, coalesce(trace_id, -seq) AS trace_id FROM {empty})
    AS traced
    ON requests.capture = traced.capture
    AND coalesce(requests.trace_id, -requests.seq) = traced.trace_id
LEFT JOIN {empty} AS empty
    ON requests.seq = empty.seq AND requests.session = empty.session
    AND requests.capture = empty.capture
LEFT JOIN {sessions} AS sessions
    ON requests.capture = sessions.capture AND requests.session = sessions.session
"""

# `one_zid` and `other_zid` are opener and acceptor, sender and receiver, requester and responder.
_ROWS: Final = f"""
WITH looked_at AS (SELECT DISTINCT capture FROM {{hops}}),
of_sessions AS (
    SELECT capture, {_SESSIONS} AS part, session, time_ns AS seq, NULL AS trace_id, time_ns,
        closed_ns AS end_ns, opener_zid AS one_zid, acceptor_zid AS other_zid,
        opener_role AS role, acceptor_role AS words, NULL AS key, outcome AS how,
        false AS is_empty, NULL AS lost_ns, NULL AS node_id,
        CASE WHEN outcome = 'closed' AND ended_by = 'close'
            THEN if(ender = 'opener', opener_zid, acceptor_zid) END AS closer_zid,
        CASE WHEN coalesce(cause, 'session_lost') = 'session_lost'
            THEN CASE ender WHEN 'opener' THEN opener_zid WHEN 'acceptor' THEN acceptor_zid END
            END AS leaver_zid
    FROM {{sessions}}
),
of_captures AS (
    SELECT capture, {_SESSIONS} AS part, NULL AS session, 0 AS seq, NULL AS trace_id, 0 AS time_ns,
        NULL AS end_ns, NULL AS one_zid, NULL AS other_zid, NULL AS role, undecoded AS words,
        NULL AS key, 'capture' AS how, false AS is_empty, NULL AS lost_ns, NULL AS node_id,
        NULL AS closer_zid, NULL AS leaver_zid
    FROM {{captures}}
),
of_queryables AS (
    SELECT capture, {_QUERYABLES} AS part, session, seq, NULL AS trace_id,
        coalesce(declared_ns, 0) AS time_ns, undeclared_ns AS end_ns, sender_zid AS one_zid,
        receiver_zid AS other_zid, NULL AS role, NULL AS words, key, ended_by AS how,
        false AS is_empty, NULL AS lost_ns, node_id, NULL AS closer_zid, NULL AS leaver_zid
    FROM {{declarations}}
    WHERE entity = 'queryable' AND key IS NOT NULL AND NOT is_answer
),
of_requests AS (
    SELECT capture, {_REQUESTS} AS part, session, seq, trace_id, time_ns, final_ns AS end_ns,
        requester_zid AS one_zid, responder_zid AS other_zid, NULL AS role, NULL AS words, key,
        target AS how, is_empty, lost_ns, NULL AS node_id, NULL AS closer_zid, NULL AS leaver_zid
    FROM {{hops}}
),
rows AS (
    SELECT * FROM of_sessions UNION ALL SELECT * FROM of_captures
    UNION ALL SELECT * FROM of_queryables UNION ALL SELECT * FROM of_requests
)
SELECT rows.* FROM rows LEFT SEMI JOIN looked_at ON rows.capture = looked_at.capture
"""
_FOUND: Final = pa.schema(
    [
        ("capture", pa.string()),
        ("session", pa.string()),
        ("seq", pa.int64()),
        ("cause", pa.string()),
        ("because", pa.string()),
    ]
)
_COLUMNS: Final = "capture STRING, session STRING, seq BIGINT, cause STRING, because STRING"
_ORDER: Final = ("capture", "part", "trace_id", "seq", "session", "one_zid")

_ROWS_AT_ONCE: Final = 1_024

Row = dict[str, Any]


def hops_of(requests: DataFrame, replies: DataFrame, sessions: DataFrame) -> DataFrame:
    """Requests of traces in which one ended without reply; `requests` has all their hops."""
    empty = query(_EMPTY, requests=requests, replies=replies)
    found = query(_HOPS, empty=empty, requests=requests, sessions=sessions)
    return conform(found, SPANNING["empty_hops"])


def build(
    hops: DataFrame, declarations: DataFrame, sessions: DataFrame, captures: DataFrame
) -> DataFrame:
    """`capture`, `session`, `seq` of a REQUEST without reply, `cause`, and `because` in words."""
    rows = query(_ROWS, hops=hops, declarations=declarations, sessions=sessions, captures=captures)
    return rows.repartition("capture").sortWithinPartitions(*_ORDER).mapInArrow(_explain, _COLUMNS)


def _explain(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = (row for batch in batches for row in batch.to_pylist())
    found: list[Row] = []
    for capture, captured in groupby(rows, lambda row: row["capture"]):
        for one in _explain_capture(captured):
            found.append({"capture": capture, **one})
            if len(found) == _ROWS_AT_ONCE:
                yield pa.RecordBatch.from_pylist(found, _FOUND)
                found = []
    yield pa.RecordBatch.from_pylist(found, _FOUND)


def _explain_capture(rows: Iterator[Row]) -> Iterator[Row]:
    known, partial, encrypted = Queryables(), 0, 0
    for part, of_part in groupby(rows, lambda row: row["part"]):
        if part == _REQUESTS:
            known.hidden = hidden_text(encrypted, partial)
            known.end_with_routers()
            for _, trace in groupby(of_part, lambda row: row["trace_id"]):
                yield from _explain_trace(known, list(trace))
            return
        for row in of_part:
            if part == _QUERYABLES:
                known.add(_queryable(row))
            elif row["how"] == "capture":
                encrypted = undecoded_bytes(row["words"]).get("encrypted", 0)
            else:
                partial += row["how"] == "partial"
                known.connect(row["one_zid"], row["role"], row["other_zid"])
                known.connect(row["other_zid"], row["words"], row["one_zid"])
                if row["closer_zid"] is not None:
                    known.closers[row["session"]] = row["closer_zid"]
                if row["leaver_zid"] is not None:
                    known.leavers[row["session"]] = row["leaver_zid"]


def _queryable(row: Row) -> Queryable:
    return Queryable(
        row["one_zid"],
        row["other_zid"],
        row["key"],
        row["time_ns"],
        row["end_ns"],
        row["how"],
        row["session"],
        row["node_id"],
    )


def _explain_trace(known: Queryables, rows: list[Row]) -> Iterator[Row]:
    hops = [
        Hop(
            row["session"],
            row["seq"],
            row["time_ns"],
            row["one_zid"],
            row["other_zid"],
            row["key"],
            row["how"],
            row["end_ns"],
            row["lost_ns"],
        )
        for row in rows
    ]
    link_hops(hops)
    for row, hop in zip(rows, hops, strict=True):
        found = explain(known, hop) if row["is_empty"] else None
        if found is not None:
            because = reason(known, found, _who, _ms)
            yield {
                "session": hop.session,
                "seq": hop.seq,
                "cause": found.cause,
                "because": because,
            }


def _who(zid: str | None) -> str:
    return f"node {zid or '(not known)'}"


def _ms(time_ns: int) -> str:
    """The format of `figures.ms`."""
    time_ms = time_ns / 1e6
    text = f"{time_ms:,.2f}" if time_ms < 1 else f"{time_ms:,.1f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} ms"
