"""Replies: one row for each RESPONSE, and whether it is delivered to the querier.

A reply that reaches the querier's node may be dropped: it may be late, be for a key that was not
requested, or be replaced by a newer reply. The last depends on the query's consolidation, which
compares replies of exactly the same key and ignores errors (behaviour reference §2.7).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from zenlake.keyexpr.texts import texts_intersect
from zenlake.lake.derive.steps.conform import conform, query, with_flags
from zenlake.lake.derive.steps.exchanges import PLACE
from zenlake.lake.derive.steps.figures import ms
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Replies that another reply of the same key may replace. A missing timestamp is older than any; of
# two equal ones the later reply counts as newer. Structs compare by their first field.
_COMPARED: Final = f"""
WITH candidates AS (
    SELECT exchanges.place, exchanges.session_hash, exchanges.query_seq, events.seq, events.packet,
        events.key, coalesce(events.timestamp_order, '') AS stamp
    FROM {{events}} AS events
    JOIN {{exchanges}} AS exchanges
        ON events.seq = exchanges.seq AND {PLACE} = exchanges.place
    JOIN {{requests}} AS requests
        ON exchanges.query_seq = requests.seq AND exchanges.session_hash = requests.session_hash
    WHERE events.kind IN ('PUT', 'DEL') AND exchanges.kind IN ('PUT', 'DEL')
        AND NOT exchanges.after_final
        AND coalesce(events.time_ns <= requests.deadline_ns, true)
        AND requests.consolidation_mode <> 'none'
),
several AS (
    SELECT query_seq, session_hash, key, max(struct(stamp, seq, packet)) AS newest
    FROM candidates
    GROUP BY query_seq, session_hash, key
    HAVING count(*) > 1
)
SELECT candidates.place, candidates.seq,
    newest.seq AS newest_seq,
    newest.packet AS newest_packet,
    coalesce(stamp < max(stamp) OVER (
        PARTITION BY candidates.query_seq, candidates.session_hash, candidates.key
        ORDER BY candidates.seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false) AS is_older
FROM candidates
JOIN several
    ON candidates.query_seq = several.query_seq
    AND candidates.session_hash = several.session_hash
    AND candidates.key <=> several.key
"""

_RESPONSES: Final = f"""
SELECT responses.*, exchanges.query_seq, exchanges.after_final, requests.trace_id,
    requests.time_ns AS query_ns,
    requests.timeout_ms AS query_timeout_ms,
    requests.consolidation_mode,
    coalesce(responses.time_ns > requests.deadline_ns, false) AS after_deadline,
    newest_seq, newest_packet, is_older,
    responses.kind = 'ERR' AS is_error,
    -- The key that the reply must intersect; null if any key is accepted.
    CASE WHEN responses.key <> requests.key AND NOT takes_any_key AND responses.kind <> 'ERR'
        THEN requests.key END AS other_key
FROM {{events}} AS responses
JOIN {{exchanges}} AS exchanges
    ON responses.seq = exchanges.seq AND {PLACE} = exchanges.place
LEFT JOIN {{requests}} AS requests
    ON exchanges.query_seq = requests.seq AND exchanges.session_hash = requests.session_hash
LEFT JOIN {{compared}} AS compared
    ON exchanges.seq = compared.seq AND exchanges.place = compared.place
WHERE responses.kind IN ('PUT', 'DEL', 'ERR') AND exchanges.kind IN ('PUT', 'DEL', 'ERR')
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


def build(exchange_events: DataFrame, exchanges: DataFrame, requests: DataFrame) -> DataFrame:
    """From the staged events, the step `exchanges`, and requests with their traces."""
    asked = {"events": exchange_events, "exchanges": exchanges, "requests": requests}
    responses = query(_RESPONSES, **asked, compared=query(_COMPARED, **asked))
    flagged = with_flags(responses, "is_elsewhere", _are_disjoint, "other_key", "key")
    return conform(query(_JUDGED, responses=flagged), TABLES["replies"])


def _are_disjoint(other_keys: pa.Array, keys: pa.Array) -> pa.Array:
    """Which pairs have no key in common; false if there is no other key."""
    if other_keys.null_count == len(other_keys):
        return pa.array([False] * len(keys))
    pairs = zip(other_keys.to_pylist(), keys.to_pylist(), strict=True)
    return pa.array([other is not None and _is_disjoint(other, key) for other, key in pairs])


@lru_cache(maxsize=100_000)
def _is_disjoint(a: str, b: str) -> bool:
    """False also if one of them is not a key expression."""
    return texts_intersect(a, b) is False
