"""Traces: which REQUESTs are hops of one query.

A REQUEST does not name the one it comes from: a router forwards it with a number of its own and
everything else unchanged (behaviour reference §4.5). So its predecessor is a REQUEST that asks the
same, went to the node that now asks, came over another session, and is still open. A node forwards
a REQUEST once in each session. If there are several candidates, the oldest is taken if all came
over one session, which keeps the order; otherwise it is not known.

It is hard to express in SQL which candidates are already used. So requests that ask the same are
processed in order, one group after the other, by a class that keeps the open ones
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
"""Columns that identify a REQUEST."""


def build(requests: DataFrame) -> DataFrame:
    """`capture`, `session`, `seq` of each REQUEST, and `trace_id`: seq of its first hop."""
    found = query(_REQUESTS, requests=requests)
    # There are many small groups: a call for each would cost more than the work itself.
    return (
        found.repartition(*_GROUP)
        .sortWithinPartitions(*_GROUP, "seq", "session")
        .mapInArrow(_walk, "capture STRING, session STRING, seq BIGINT, trace_id BIGINT")
    )


# The predecessor of a request went to its requester, or to an unknown node.
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
    """Groups of requests that are compared: they ask the same and share a node.

    `is_open`: requests that ask the same may also match if some node is not known.
    """
    return conform(query(_GROUPS, requests=requests), SPANNING["question_groups"])


# The right side of a join is kept in memory: these requests are few, all traces are many.
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
    """Processes one group after the other; a batch may have many groups, or a part of one."""
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
