"""Publications: which rows of `samples` are one publication, on several hops.

A publication has no number that hops repeat. It is identified by the first of these that applies:

1. Its content (key, kind, payload, encoding, attachment, source information) and its place among
   those with the same content, if that is certain: nodes at both ends of all sessions are known, no
   node received a publication twice, and one of these holds:
   - one node sent it first, to all its neighbours at once, and every session that carried this
     content did so equally often, in the order of the first: routers keep the order, and may add a
     timestamp, but only one;
   - one session had it first, without timestamps, and as many were added, in order;
   - one node received it first, and each came over all its hops in less time than there was
     between any two that this node received.
2. The source information that its publisher sent, or its timestamp, which routers do not change.

Equal contents to which different routers added timestamps are different publications: they are
compared for each of these routers.

Otherwise `trace_id` is null. An example is a burst of equal values of which a later subscriber got
only some: it cannot be known which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_AT_ONCE_NS: Final = 20_000_000
"""A node sends a publication to all its neighbours within this time."""

# The columns that `latencies.contents_of` adds are explained there.

# A row without a timestamp belongs to the router that received it, if that added timestamps.
_SPLIT: Final = """
WITH several AS (
    SELECT content FROM {contents} WHERE stamper IS NOT NULL
    GROUP BY content HAVING min(stamper) < max(stamper)
),
stampers AS (
    SELECT DISTINCT contents.content, stamper FROM {contents} AS contents
    JOIN several ON contents.content = several.content WHERE stamper IS NOT NULL
)
SELECT spot, seq, time_ns, hop, sender, receiver, stamp, stamp_ns, mark,
    several.content IS NOT NULL AS is_split,
    CASE WHEN several.content IS NULL THEN contents.content
        ELSE xxhash64(contents.content, coalesce(contents.stamper, stampers.stamper)) END AS content
FROM {contents} AS contents
LEFT JOIN several ON contents.content = several.content
LEFT JOIN stampers ON contents.content = stampers.content
    AND contents.receiver = stampers.stamper AND contents.stamper IS NULL
"""

# A hop is the first if its sender did not receive the content: the sender is `source`, the receiver
# `entry`. Contents on a single hop need no comparison.
_CERTAIN: Final = """
WITH hops AS (
    SELECT content, hop, min(sender) AS sender, count(*) AS times,
        count(receiver) AS receivers, min(receiver) AS receiver, max(is_split) AS is_split
    FROM {split} GROUP BY content, hop
),
received AS (
    SELECT DISTINCT content, receiver AS node FROM hops WHERE receiver IS NOT NULL
),
judged AS (
    SELECT hops.*, received.node IS NULL AS is_first
    FROM hops LEFT JOIN received
        ON hops.content = received.content AND hops.sender = received.node
)
SELECT content, max(times) AS times,
    count(*) > 1 AND count(sender) = count(*) AND sum(receivers) = sum(times) AS is_complete,
    min(times) = max(times) AND count(DISTINCT receiver) = count(*) AS is_even,
    max(CASE WHEN is_first THEN sender END) AS source,
    max(CASE WHEN is_first THEN receiver END) AS entry,
    min(CASE WHEN is_first THEN sender END) = max(CASE WHEN is_first THEN sender END)
        AS has_one_source,
    min(CASE WHEN is_first THEN receiver END) = max(CASE WHEN is_first THEN receiver END)
        AS has_one_entry
FROM judged GROUP BY content HAVING count(*) > 1 OR max(is_split)
"""

# `place` counts equal contents on a hop; most come once. If one is seen before the first hop, or
# has two timestamps, the order does not identify publications.
_NUMBERED: Final = f"""
WITH joined AS (
    SELECT spot, seq, time_ns, split.content, hop, sender, receiver, stamp, stamp_ns, mark, times,
        coalesce(is_complete AND is_even AND has_one_source, false) AS is_certain,
        coalesce(is_complete AND has_one_entry, false) AS has_one_entry,
        CASE WHEN sender = source THEN seq END AS first_seq,
        CASE WHEN sender = source THEN time_ns END AS first_ns,
        receiver = entry AS is_entry
    FROM {{split}} AS split JOIN {{certain}} AS certain ON split.content = certain.content
),
numbered AS (
    SELECT *, 1 AS place FROM joined WHERE times = 1
    UNION ALL
    SELECT *, row_number() OVER (PARTITION BY content, hop ORDER BY seq) AS place
    FROM joined WHERE times > 1
),
places AS (
    SELECT content, place,
        coalesce(min(seq) = min(first_seq), false)
            AND max(first_ns) - min(first_ns) < {_AT_ONCE_NS}
            AND coalesce(min(stamp) = max(stamp), true) AS is_in_order
    FROM numbered WHERE is_certain GROUP BY content, place
),
known AS (
    SELECT content FROM places GROUP BY content HAVING count_if(NOT is_in_order) = 0
)
SELECT spot, seq, time_ns, numbered.content, hop, sender, receiver, stamp, stamp_ns,
    has_one_entry, is_entry, known.content IS NOT NULL AS is_known,
    CASE WHEN known.content IS NOT NULL THEN xxhash64(known.content, place) ELSE mark END
        AS publication
FROM numbered LEFT JOIN known ON numbered.content = known.content
"""

# The others: hops have different counts of a content, because subscribers came and went.
# `number` is the place at the entry, and that of the timestamp among those that were added;
# `before` is the place of the last one at the entry so far.
_UNEVEN: Final = """
WITH uneven AS (
    SELECT spot, seq, time_ns, content, hop, receiver, stamp, is_entry,
        dense_rank() OVER (PARTITION BY content, is_entry
            ORDER BY if(is_entry, seq, stamp_ns), if(is_entry, seq, stamp)) AS number,
        count_if(is_entry) OVER (PARTITION BY content ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before,
        time_ns - lag(time_ns) OVER (PARTITION BY content, is_entry ORDER BY seq) AS gap_ns
    FROM {numbered} WHERE has_one_entry AND NOT is_known
),
by_number AS (
    SELECT content, number, min(CASE WHEN is_entry THEN hop END) AS hop,
        coalesce(min(seq) = min(CASE WHEN is_entry THEN seq END), false)
            AND count(*) > 1 AND count(*) = count(DISTINCT receiver)
            AND count_if(is_entry = (stamp IS NULL)) = count(*) AS is_in_order
    FROM uneven GROUP BY content, number
),
stamped AS (
    SELECT content FROM by_number GROUP BY content
    HAVING count_if(NOT is_in_order) = 0 AND min(hop) = max(hop)
),
by_time AS (
    SELECT content, before, min(stamp) AS stamp,
        before > 0 AND count(*) = count(DISTINCT receiver)
            AND coalesce(min(stamp) = max(stamp), true) AS is_in_order,
        max(time_ns) - min(CASE WHEN is_entry THEN time_ns END) AS delay_ns,
        min(CASE WHEN is_entry THEN gap_ns END) AS gap_ns
    FROM uneven GROUP BY content, before
),
apart AS (
    SELECT content FROM by_time GROUP BY content
    HAVING count_if(NOT is_in_order) = 0 AND count(stamp) = count(DISTINCT stamp)
        AND max(delay_ns) < min(gap_ns)
)
SELECT spot, seq,
    CASE WHEN stamped.content IS NOT NULL THEN xxhash64(stamped.content, number)
        ELSE xxhash64(apart.content, before) END AS publication
FROM uneven
LEFT JOIN stamped ON uneven.content = stamped.content
LEFT JOIN apart ON uneven.content = apart.content
WHERE stamped.content IS NOT NULL OR apart.content IS NOT NULL
"""

_MATCHED: Final = """
SELECT numbered.spot, numbered.seq, time_ns, sender, receiver,
    is_known OR uneven.seq IS NOT NULL AS is_known,
    coalesce(uneven.publication, numbered.publication) AS publication
FROM {numbered} AS numbered
LEFT JOIN {uneven} AS uneven ON numbered.seq = uneven.seq AND numbered.spot = uneven.spot
"""


def build(contents: DataFrame, keep: Callable[[str, DataFrame], DataFrame]) -> DataFrame:
    """`publication` of each row whose content has several hops; null if it is not known.

    `is_known`: whether its first hop is known too.
    """
    split = keep("split", query(_SPLIT, contents=contents))
    certain = keep("certain", query(_CERTAIN, split=split))
    numbered = keep("hops", query(_NUMBERED, split=split, certain=certain))
    return query(_MATCHED, numbered=numbered, uneven=query(_UNEVEN, numbered=numbered))
