"""Replies: one row for each RESPONSE, and whether the querier gets to see it.

What reaches a querier's node is not yet delivered: it may come too late, be for a key that was
not asked for, or be given up for a newer reply. Which one, the query's consolidation says; it
looks at replies of exactly the same key and never at errors (behaviour reference §2.7).
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

# Replies that others of the same key may replace or outdate, where there are others at all. No
# timestamp is older than any; of two that are the same the later one counts as newer. Structs
# compare by their first field.
_COMPARED: Final = f"""
WITH candidates AS (
    SELECT exchanges.place, exchanges.talk, exchanges.query_seq, events.seq, events.packet,
        events.key, coalesce(events.timestamp_order, '') AS stamp
    FROM {{events}} AS events
    JOIN {{exchanges}} AS exchanges
        ON events.seq = exchanges.seq AND {PLACE} = exchanges.place
    JOIN {{requests}} AS requests
        ON exchanges.query_seq = requests.seq AND exchanges.talk = requests.talk
    WHERE events.kind IN ('PUT', 'DEL') AND exchanges.kind IN ('PUT', 'DEL')
        AND NOT exchanges.after_final
        AND coalesce(events.time_ns <= requests.deadline_ns, true)
        AND requests.consolidation_mode <> 'none'
),
several AS (
    SELECT query_seq, talk, key, max(struct(stamp, seq, packet)) AS newest
    FROM candidates
    GROUP BY query_seq, talk, key
    HAVING count(*) > 1
)
SELECT candidates.place, candidates.seq,
    newest.seq AS newest_seq,
    newest.packet AS newest_packet,
    coalesce(stamp < max(stamp) OVER (
        PARTITION BY candidates.query_seq, candidates.talk, candidates.key
        ORDER BY candidates.seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false) AS is_older
FROM candidates
JOIN several
    ON candidates.query_seq = several.query_seq
    AND candidates.talk = several.talk
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
    -- What a key has to meet; null where any will do.
    CASE WHEN responses.key <> requests.key AND NOT takes_any_key AND responses.kind <> 'ERR'
        THEN requests.key END AS other_key
FROM {{events}} AS responses
JOIN {{exchanges}} AS exchanges
    ON responses.seq = exchanges.seq AND {PLACE} = exchanges.place
LEFT JOIN {{requests}} AS requests
    ON exchanges.query_seq = requests.seq AND exchanges.talk = requests.talk
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
    return texts_intersect(a, b) is False
