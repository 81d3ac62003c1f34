"""Traces: which REQUESTs are one query on its way from node to node.

Nothing in a REQUEST says which one it stems from: a router gives it a number of its own and
passes on what it asks unchanged (behaviour reference §4.5). So a REQUEST stems from one that
asks the same, went to the node that now asks, came over another session, and is not over yet.
A node passes a REQUEST on once in each session. Where several would do, the oldest is meant if
all came over one session, which keeps the order; otherwise it cannot be known.

What is taken already is hard to say in SQL. So requests that ask the same are walked in
order, one group after the other, by a class that remembers the open ones
(`trace/timelines/hops.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from zenlake.lake.tables.conform import query
from zenlake.trace.timelines.hops import NEVER, Hops, Request

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What every hop repeats is one question. A hash passes over nulls; the numbers between make it
# matter which column has a value.
_REQUESTS: Final = f"""
SELECT capture,
    xxhash64(key, 1, parameters, 2, target, 3, consolidation, 4, timeout_ms, 5, budget, 6,
        payload, 7, encoding, 8, attachment, 9, source) AS question,
    seq, time_ns, session, requester_zid, responder_zid,
    coalesce(final_seq, {NEVER}) AS final_seq,
    coalesce(deadline_ns, {NEVER}) AS deadline_ns
FROM {{exchanges}}
WHERE kind = 'REQUEST'
"""
_GROUP: Final = ("capture", "question")
_NAME: Final = ("capture", "session", "seq")
"""Of a REQUEST."""


def build(exchanges: DataFrame) -> DataFrame:
    """`capture`, `session`, `seq` of each REQUEST, and `trace_id`: seq of the one it began with."""
    requests = query(_REQUESTS, exchanges=exchanges)
    # Groups are small and many: each handed over on its own costs more than all that is done.
    return (
        requests.repartition(*_GROUP)
        .sortWithinPartitions(*_GROUP, "seq", "session")
        .mapInArrow(_walk, "capture STRING, session STRING, seq BIGINT, trace_id BIGINT")
    )


def _walk(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Group after group, of which a batch may hold many, or a part."""
    hops, group = Hops(), None
    for batch in batches:
        groups = zip(*(batch.column(name).to_pylist() for name in _GROUP), strict=True)
        columns = (batch.column(name).to_pylist() for name in Request._fields)
        trace_ids = []
        for one, row in zip(groups, zip(*columns, strict=True), strict=True):
            if one != group:
                hops, group = Hops(), one
            trace_ids.append(hops.add(Request(*row)))
        yield pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in _NAME), pa.array(trace_ids, pa.int64())],
            [*_NAME, "trace_id"],
        )
