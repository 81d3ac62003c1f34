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

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from zenlake.lake.schema import TABLES
from zenlake.lake.tables.conform import conform, query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Windows sort what they are given, and joins remember it: both see numbers only. A hash passes over
# nulls; the numbers between make it matter which column has a value. New columns:
#   spot                       session, in which `seq` names one row
#   content                    the same for what is equal, in one capture
#   hop, sender, receiver      session and who sent; the nodes at its ends
#   mark                       what the publisher or a router says of its identity
_CONTENTS: Final = """
WITH several AS (
    SELECT capture FROM {samples} GROUP BY capture HAVING count(DISTINCT session) > 1
)
SELECT samples.capture, session, link, packet, time_ns, seq, kind, key, sender_zid, receiver_zid,
    xxhash64(samples.capture, session) AS spot,
    xxhash64(samples.capture, key, 1, kind, 2, payload, 3, encoding, 4, attachment, 5,
        source_zid, 6, source_eid, 7, source_sn) AS content,
    xxhash64(samples.capture, session, 1, sender_zid) AS hop,
    CASE WHEN sender_zid IS NOT NULL THEN xxhash64(sender_zid) END AS sender,
    CASE WHEN receiver_zid IS NOT NULL THEN xxhash64(receiver_zid) END AS receiver,
    CASE WHEN timestamp IS NOT NULL THEN xxhash64(timestamp) END AS stamp,
    CASE WHEN source_sn IS NOT NULL
            THEN xxhash64(samples.capture, key, 1, source_zid, 2, source_eid, 3, source_sn)
        WHEN timestamp IS NOT NULL THEN xxhash64(samples.capture, key, 4, timestamp) END AS mark
FROM {samples} AS samples
JOIN several ON samples.capture = several.capture
WHERE ignored IS NULL AND key IS NOT NULL
"""

# `is_first` is a hop of a node that did not receive the content itself. Of what is on one hop only
# nothing is to be found out.
_CERTAIN: Final = """
WITH hops AS (
    SELECT content, hop, min(sender) AS sender, count(*) AS times,
        count(receiver) AS receivers, min(receiver) AS receiver
    FROM {contents} GROUP BY content, hop
),
received AS (
    SELECT DISTINCT content, receiver AS node FROM hops WHERE receiver IS NOT NULL
),
judged AS (
    SELECT hops.*, received.node IS NULL AS is_first
    FROM hops LEFT JOIN received
        ON hops.content = received.content AND hops.sender = received.node
)
SELECT content,
    count_if(is_first) = 1 AND min(times) = max(times) AND count(sender) = count(*)
        AND sum(receivers) = sum(times) AS is_certain,
    max(CASE WHEN is_first THEN hop END) AS first_hop
FROM judged GROUP BY content HAVING count(*) > 1
"""

# `place` counts equal contents on a hop. One that comes before the first hop had it, or has two
# timestamps, shows that the order does not tell.
_NUMBERED: Final = """
WITH numbered AS (
    SELECT spot, seq, time_ns, contents.content, hop, sender, receiver, stamp, mark,
        is_certain, first_hop,
        row_number() OVER (PARTITION BY contents.content, hop ORDER BY seq) AS place
    FROM {contents} AS contents JOIN {certain} AS certain ON contents.content = certain.content
),
places AS (
    SELECT content, place,
        coalesce(min(seq) = min(CASE WHEN hop = first_hop THEN seq END), false)
            AND coalesce(min(stamp) = max(stamp), true) AS is_in_order
    FROM numbered WHERE is_certain GROUP BY content, place
),
known AS (
    SELECT content FROM places GROUP BY content HAVING count_if(NOT is_in_order) = 0
)
SELECT spot, seq, time_ns, sender, receiver, known.content IS NOT NULL AS is_known,
    CASE WHEN known.content IS NOT NULL THEN xxhash64(known.content, place) ELSE mark END
        AS publication
FROM numbered LEFT JOIN known ON numbered.content = known.content
"""

# Of one hop that is known by its timestamp, those before it are not: it has no latency.
_MEASURED: Final = """
WITH publications AS (
    SELECT publication, min(seq) AS trace_id, min(struct(seq, spot)) AS first,
        CASE WHEN count(*) > 1 THEN min(time_ns) END AS sent_ns
    FROM {numbered} WHERE publication IS NOT NULL GROUP BY publication
),
passed_on AS (
    SELECT DISTINCT publication, sender FROM {numbered} WHERE publication IS NOT NULL
)
SELECT numbered.spot, numbered.seq, trace_id, sent_ns,
    CASE WHEN is_known THEN first.spot END AS first_spot,
    CASE WHEN numbered.publication IS NOT NULL THEN passed_on.sender IS NULL END AS is_last
FROM {numbered} AS numbered
LEFT JOIN publications ON numbered.publication = publications.publication
LEFT JOIN passed_on ON numbered.publication = passed_on.publication
    AND numbered.receiver = passed_on.sender
"""

_LATENCIES: Final = """
SELECT contents.*, trace_id, sent_ns, is_last, firsts.sender_zid AS publisher_zid,
    (contents.time_ns - sent_ns) / 1e6D AS latency_ms
FROM {contents} AS contents
JOIN {measured} AS measured ON contents.seq = measured.seq AND contents.spot = measured.spot
LEFT JOIN (SELECT spot, seq, sender_zid FROM {contents}) AS firsts
    ON measured.trace_id = firsts.seq AND measured.first_spot = firsts.spot
"""

# Readers write what is true of one hop: each row is the first of its publication.
_CHANGED: Final = """
SELECT xxhash64(capture) AS capture, xxhash64(capture, session) AS spot, seq, trace_id
FROM {latencies} WHERE trace_id IS DISTINCT FROM seq
"""

_TRACED: Final = """
SELECT samples.* EXCEPT (trace_id),
    CASE WHEN changed.seq IS NULL THEN samples.trace_id ELSE changed.trace_id END AS trace_id
FROM {samples} AS samples
LEFT SEMI JOIN (SELECT DISTINCT capture FROM {changed}) AS captures
    ON xxhash64(samples.capture) = captures.capture
LEFT JOIN {changed} AS changed
    ON samples.seq = changed.seq AND xxhash64(samples.capture, samples.session) = changed.spot
"""


def contents_of(samples: DataFrame) -> DataFrame:
    """What is compared: payloads as numbers. It is read several times."""
    return query(_CONTENTS, samples=samples)


def build(contents: DataFrame, keep: Callable[[str, DataFrame], DataFrame]) -> DataFrame:
    """From what the function above gives; `keep` holds on to a step that is read again."""
    certain = query(_CERTAIN, contents=contents)
    numbered = keep("hops", query(_NUMBERED, contents=contents, certain=certain))
    measured = query(_MEASURED, numbered=numbered)
    found = query(_LATENCIES, contents=contents, measured=measured)
    return conform(found, TABLES["latencies"])


def changed_of(latencies: DataFrame) -> DataFrame:
    """Rows of samples whose `trace_id` is another than readers write."""
    return query(_CHANGED, latencies=latencies)


def traced(samples: DataFrame, changed: DataFrame) -> DataFrame:
    """All samples of captures in which a `trace_id` changes; the others stay as they were read."""
    return conform(query(_TRACED, samples=samples, changed=changed), TABLES["samples"])
