"""Traces: which REQUESTs are one query on its way from node to node.

Nothing in a REQUEST says which one it stems from: a router gives it a number of its own and
passes on what it asks unchanged (behaviour reference §4.5). So a REQUEST stems from one that
asks the same, went to the node that now asks, came over another session, and is not over yet.
A node passes a REQUEST on once in each session. Where several would do, the oldest is meant if
all came over one session, which keeps the order; otherwise it cannot be known.

What is taken already is hard to say in SQL. So requests that ask the same are walked in
order, one group after the other, by a class that remembers the open ones
(`trace/timelines/request_traces.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema.spanning import HASH_MAX, SPANNING
from zenlake.trace.timelines.request_traces import NEVER, Request, RequestTraces

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REQUESTS: Final = f"""
SELECT capture, question, seq, time_ns, session, requester_zid, responder_zid,
    coalesce(final_seq, {NEVER}) AS final_seq,
    coalesce(deadline_ns, {NEVER}) AS deadline_ns
FROM {{requests}}
"""
_GROUP: Final = ("capture", "question")
_NAME: Final = ("capture", "session", "seq")
"""Of a REQUEST."""


def build(requests: DataFrame) -> DataFrame:
    """`capture`, `session`, `seq` of each REQUEST, and `trace_id`: seq of the one it began with."""
    found = query(_REQUESTS, requests=requests)
    # Groups are small and many: each handed over on its own costs more than all that is done.
    return (
        found.repartition(*_GROUP)
        .sortWithinPartitions(*_GROUP, "seq", "session")
        .mapInArrow(_walk, "capture STRING, session STRING, seq BIGINT, trace_id BIGINT")
    )


# A request may stem from one that went to its requester, or to a node that is not known.
_GROUPS: Final = f"""
WITH groups AS (
    SELECT xxhash64(capture, question) AS hash,
        max(requester_zid IS NULL OR responder_zid IS NULL) AS is_open
    FROM {{requests}} GROUP BY capture, question
    UNION ALL
    SELECT xxhash64(capture, question, 1, zid), true FROM (
        SELECT capture, question, requester_zid AS zid FROM {{requests}}
        UNION SELECT capture, question, responder_zid FROM {{requests}}
    ) WHERE zid IS NOT NULL
)
SELECT hash % {HASH_MAX} AS hash, is_open FROM groups
"""


def groups_of(requests: DataFrame) -> DataFrame:
    """Requests are compared where they ask the same, and one node is at an end of both.

    Requests that ask the same may also be one if some node is not known: `is_open`.
    """
    return conform(query(_GROUPS, requests=requests), SPANNING["question_groups"])


# Traces are many, those of some requests few: what stands on the right is remembered.
_JOINED: Final = """
SELECT requests.*, traces.trace_id
FROM {traces} AS traces
RIGHT JOIN {requests} AS requests
    ON traces.seq = requests.seq
    AND traces.session = requests.session
    AND traces.capture = requests.capture
"""


def join(requests: DataFrame, traces: DataFrame) -> DataFrame:
    """Requests, each with its `trace_id`."""
    return query(_JOINED, requests=requests, traces=traces)


def _walk(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Group after group, of which a batch may hold many, or a part."""
    hops, group = RequestTraces(), None
    for batch in batches:
        groups = zip(*(batch.column(name).to_pylist() for name in _GROUP), strict=True)
        columns = (batch.column(name).to_pylist() for name in Request._fields)
        trace_ids = []
        for one, row in zip(groups, zip(*columns, strict=True), strict=True):
            if one != group:
                hops, group = RequestTraces(), one
            trace_ids.append(hops.add(Request(*row)))
        yield pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in _NAME), pa.array(trace_ids, pa.int64())],
            [*_NAME, "trace_id"],
        )
