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
from zenlake.lake.tables.conform import conform, query
from zenlake.lake.tables.figures import ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# No timestamp is older than any; of two that are the same the later one counts as newer.
_COMPARED: Final = """
WITH responses AS (
    SELECT *,
        coalesce(seq > final_seq, false) AS after_final,
        coalesce(time_ns > deadline_ns, false) AS after_deadline,
        kind = 'ERR' AS is_error,
        coalesce(timestamp_order, '') AS stamp
    FROM {exchanges}
    WHERE kind IN ('PUT', 'DEL', 'ERR')
),
candidates AS (
    SELECT *, CASE WHEN NOT (is_error OR after_final OR after_deadline)
        THEN struct(stamp, seq, packet) END AS candidate
    FROM responses
),
compared AS (
    SELECT *,
        max(candidate) OVER at_any_time AS newest,
        max(candidate.stamp) OVER before AS newest_stamp_before
    FROM candidates
    WINDOW
        at_any_time AS (PARTITION BY capture, session, exchange_seq, key ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
        before AS (PARTITION BY capture, session, exchange_seq, key ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT compared.*, traces.trace_id,
    -- What a key has to meet; null where any will do.
    CASE WHEN key <> query_key AND NOT takes_any_key AND NOT is_error THEN query_key END
        AS other_key
FROM compared
LEFT JOIN {traces} AS traces
    ON compared.capture = traces.capture
    AND compared.session = traces.session
    AND compared.exchange_seq = traces.seq
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
        WHEN consolidation_mode = 'latest' AND newest.seq <> seq
            THEN concat('latest: the reply in packet ', newest.packet, ' replaced it')
        WHEN consolidation_mode = 'monotonic' AND stamp < newest_stamp_before
            THEN 'monotonic: older than one delivered before for this key'
        END AS dropped_because
    FROM {{compared}}
)
SELECT *,
    CASE WHEN query_seq IS NOT NULL THEN dropped_because IS NULL END AS delivered,
    (time_ns - query_ns) / 1e6D AS latency_ms
FROM judged
"""


def build(exchanges: DataFrame, traces: DataFrame) -> DataFrame:
    """From the steps of these names."""
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import BooleanType

    # After all windows: what Python has handled has lost its place among partitions.
    # Its types ask for the kind of function, its code warns who gives more than type hints.
    are_disjoint = arrow_udf(_are_disjoint, BooleanType())  # type: ignore[call-overload]
    is_elsewhere = are_disjoint("other_key", "key")
    compared = query(_COMPARED, exchanges=exchanges, traces=traces)
    judged = query(_JUDGED, compared=compared.withColumn("is_elsewhere", is_elsewhere))
    return conform(judged, TABLES["replies"])


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
