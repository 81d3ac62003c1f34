"""Replies: one row for each RESPONSE, and whether the querier gets to see it.

What reaches a querier's node is not yet delivered: it may come too late, be for a key that was
not asked for, or be given up for a newer reply. Which one, the query's consolidation says; it
looks at replies of exactly the same key and never at errors (behaviour reference §2.7).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from zenlake.errors import ZenlakeError
from zenlake.keyexpr import canonize, intersects
from zenlake.lake.schema import TABLES
from zenlake.lake.tables.conform import conform, query, with_flags
from zenlake.lake.tables.figures import ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RESPONSES: Final = """
SELECT responses.*, traces.trace_id,
    kind = 'ERR' AS is_error,
    -- What a key has to meet; null where any will do.
    CASE WHEN key <> query_key AND NOT takes_any_key AND kind <> 'ERR' THEN query_key END
        AS other_key
FROM {exchanges} AS responses
LEFT JOIN {traces} AS traces
    ON responses.capture = traces.capture
    AND responses.session = traces.session
    AND responses.query_seq = traces.seq
WHERE kind IN ('PUT', 'DEL', 'ERR')
"""

_JUDGED: Final = f"""
WITH judged AS (
    SELECT *, CASE
        WHEN query_seq IS NULL THEN NULL
        WHEN after_final THEN 'it came after the final response'
        WHEN after_deadline
            THEN concat('it came after the query\\'s timeout of ', {ms("query_timeout_ms")})
        WHEN is_error THEN NULL
        WHEN is_elsewhere THEN 'its key does not intersect the query\\'s'
        WHEN consolidation_mode = 'latest' AND newest_seq <> seq
            THEN concat('latest: the reply in packet ', newest_packet, ' replaced it')
        WHEN consolidation_mode = 'monotonic' AND is_older
            THEN 'monotonic: older than one delivered before for this key'
        END AS dropped_because
    FROM {{responses}}
)
SELECT *,
    CASE WHEN query_seq IS NOT NULL THEN dropped_because IS NULL END AS delivered,
    (time_ns - query_ns) / 1e6D AS latency_ms
FROM judged
"""


def build(exchanges: DataFrame, traces: DataFrame) -> DataFrame:
    """From the steps of these names."""
    responses = query(_RESPONSES, exchanges=exchanges, traces=traces)
    told = with_flags(responses, "is_elsewhere", _are_disjoint, "other_key", "key")
    return conform(query(_JUDGED, responses=told), TABLES["replies"])


def _are_disjoint(other_keys: pa.Array, keys: pa.Array) -> pa.Array:
    """Which pairs have no key in common; false where there is no other one."""
    if other_keys.null_count == len(other_keys):
        return pa.array([False] * len(keys))
    pairs = zip(other_keys.to_pylist(), keys.to_pylist(), strict=True)
    return pa.array([other is not None and _is_disjoint(other, key) for other, key in pairs])


@lru_cache(maxsize=100_000)
def _is_disjoint(a: str, b: str) -> bool:
    """False as well where one is no key expression, and nothing can be said."""
    try:
        return not intersects(canonize(a), canonize(b))
    except ZenlakeError:
        return False
