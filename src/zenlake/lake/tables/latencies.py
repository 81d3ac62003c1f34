"""Latencies: which rows of `samples` are one publication on its way, and how long it took.

A publication has no number that hops repeat. What identifies it, the first that holds:

1. Its content (key, kind, payload, encoding, attachment, source information) and its place among
   those with the same content, if that is certain: one node sent it first, over one session; every
   session that carried this content did so equally often, in the order of the first; nodes at both
   ends of all of them are known. Routers keep the order, and may add a timestamp, but only one.
2. The source information that its publisher sent, or its timestamp, which routers do not change.

Otherwise it cannot be known, and `trace_id` is null: a subscriber that came later has got fewer of
some equal values, and nobody can say which. Publications that crossed one session only have no
rows here: there is nothing to compare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.schema import TABLES
from zenlake.lake.tables.conform import conform, query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A hash passes over nulls; the numbers between make it matter which column has a value.
_CONTENTS: Final = """
WITH several AS (
    SELECT capture FROM {samples} GROUP BY capture HAVING count(DISTINCT session) > 1
)
SELECT samples.capture, session, link, packet, time_ns, seq, kind, key, sender_zid, receiver_zid,
    timestamp,
    xxhash64(key, 1, kind, 2, payload, 3, encoding, 4, attachment, 5,
        source_zid, 6, source_eid, 7, source_sn) AS content,
    CASE WHEN source_sn IS NOT NULL THEN xxhash64(key, 1, source_zid, 2, source_eid, 3, source_sn)
        WHEN timestamp IS NOT NULL THEN xxhash64(key, 4, timestamp) END AS mark
FROM {samples} AS samples
JOIN several ON samples.capture = several.capture
WHERE ignored IS NULL AND key IS NOT NULL
"""

# A hop is a session and who sent. `first_hop` is the one of a node that did not receive it.
_HOPS: Final = """
WITH hops AS (
    SELECT capture, content, session, sender_zid, count(*) AS times,
        count(receiver_zid) AS receivers, min(receiver_zid) AS receiver_zid
    FROM {contents} GROUP BY capture, content, session, sender_zid
),
crossing AS (
    -- Of what is on one hop only nothing is to be found out.
    SELECT capture, content FROM hops GROUP BY capture, content HAVING count(*) > 1
),
received AS (
    SELECT DISTINCT capture, content, receiver_zid AS zid FROM hops WHERE receiver_zid IS NOT NULL
)
SELECT hops.*, received.zid IS NULL AS is_first
FROM hops
JOIN crossing ON hops.capture = crossing.capture AND hops.content = crossing.content
LEFT JOIN received ON hops.capture = received.capture AND hops.content = received.content
    AND hops.sender_zid = received.zid
"""

_CERTAIN: Final = """
SELECT capture, content,
    count_if(is_first) = 1 AND min(times) = max(times) AND count(sender_zid) = count(*)
        AND sum(receivers) = sum(times) AS is_certain,
    max(CASE WHEN is_first THEN struct(session, sender_zid) END) AS first_hop
FROM {hops} GROUP BY capture, content
"""

# `place` counts equal contents on a hop. One that comes before the first hop had it, or has two
# timestamps, shows that the order does not tell.
_NUMBERED: Final = """
WITH numbered AS (
    SELECT contents.*, is_certain, first_hop,
        row_number() OVER (PARTITION BY contents.capture, contents.content, session, sender_zid
            ORDER BY seq) AS place
    FROM {contents} AS contents
    JOIN {certain} AS certain
        ON contents.capture = certain.capture AND contents.content = certain.content
),
checked AS (
    SELECT *,
        min(seq) OVER whole AS earliest_seq,
        min(CASE WHEN session = first_hop.session AND sender_zid = first_hop.sender_zid
            THEN seq END) OVER whole AS first_seq,
        min(timestamp) OVER whole AS least_timestamp,
        max(timestamp) OVER whole AS greatest_timestamp
    FROM numbered
    WINDOW whole AS (PARTITION BY capture, content, place)
),
judged AS (
    SELECT *, min(coalesce(is_certain AND earliest_seq = first_seq
            AND coalesce(least_timestamp = greatest_timestamp, true), false))
        OVER (PARTITION BY capture, content) AS is_known
    FROM checked
)
SELECT capture, session, link, packet, time_ns, seq, kind, key, sender_zid, receiver_zid,
    is_known, CASE WHEN is_known THEN xxhash64(content, place) ELSE mark END AS publication
FROM judged
"""

_MEASURED: Final = """
WITH traced AS (
    SELECT *,
        CASE WHEN publication IS NOT NULL THEN min(seq) OVER whole END AS trace_id,
        -- Of one hop that is known by its timestamp, those before it are not.
        CASE WHEN publication IS NOT NULL AND count(*) OVER whole > 1
            THEN min(time_ns) OVER whole END AS sent_ns,
        CASE WHEN is_known THEN min(struct(seq, sender_zid)) OVER whole END AS first
    FROM {numbered}
    WINDOW whole AS (PARTITION BY capture, publication)
),
passed_on AS (
    SELECT DISTINCT capture, publication, sender_zid FROM traced WHERE publication IS NOT NULL
)
SELECT traced.*, first.sender_zid AS publisher_zid,
    (traced.time_ns - sent_ns) / 1e6D AS latency_ms,
    CASE WHEN traced.publication IS NOT NULL THEN passed_on.sender_zid IS NULL END AS is_last
FROM traced
LEFT JOIN passed_on ON traced.capture = passed_on.capture
    AND traced.publication = passed_on.publication
    AND traced.receiver_zid = passed_on.sender_zid
"""


def contents_of(samples: DataFrame) -> DataFrame:
    """What is compared: payloads as numbers. It is read several times."""
    return query(_CONTENTS, samples=samples)


def build(contents: DataFrame) -> DataFrame:
    """From what the function above gives."""
    hops = query(_HOPS, contents=contents)
    numbered = query(_NUMBERED, contents=contents, certain=query(_CERTAIN, hops=hops))
    return conform(query(_MEASURED, numbered=numbered), TABLES["latencies"])
