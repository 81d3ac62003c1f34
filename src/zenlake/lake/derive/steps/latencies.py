"""Latencies: which rows of `samples` are one publication on its way, and how long it took.

What makes rows one publication is in `publications.py`. Publications that crossed one session only
have no rows here: there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps import publications
from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.spanning import HASH_MAX, SPANNING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Windows sort what they are given, and joins remember it: both see numbers only. A hash passes over
# nulls; the numbers between make it matter which column has a value. New columns:
#   spot                       session, in which `seq` names one row
#   content                    the same for what is equal, in one capture
#   hop, sender, receiver      session and who sent; the nodes at its ends
#   mark                       what the publisher or a router says of its identity
#   stamper                    the node that added the timestamp, as `sender` and `receiver`
_CONTENTS: Final = """
SELECT capture, session, link, packet, time_ns, seq, kind, key, sender_zid, receiver_zid,
    xxhash64(capture, session) AS spot,
    xxhash64(capture, key, 1, kind, 2, payload, 3, encoding, 4, attachment, 5,
        source_zid, 6, source_eid, 7, source_sn) AS content,
    xxhash64(capture, session, 1, sender_zid) AS hop,
    CASE WHEN sender_zid IS NOT NULL THEN xxhash64(sender_zid) END AS sender,
    CASE WHEN receiver_zid IS NOT NULL THEN xxhash64(receiver_zid) END AS receiver,
    CASE WHEN timestamp IS NOT NULL THEN xxhash64(timestamp) END AS stamp,
    timestamp_ns AS stamp_ns,
    CASE WHEN timestamp IS NOT NULL THEN xxhash64(split_part(timestamp, '/', 2)) END AS stamper,
    CASE WHEN source_sn IS NOT NULL
            THEN xxhash64(capture, key, 1, source_zid, 2, source_eid, 3, source_sn)
        WHEN timestamp IS NOT NULL THEN xxhash64(capture, key, 4, timestamp) END AS mark
FROM {samples}
WHERE ignored IS NULL AND key IS NOT NULL
"""

# Of one session alone nothing is to be found out.
_SEVERAL: Final = """
SELECT samples.* FROM {samples} AS samples
LEFT SEMI JOIN (
    SELECT capture FROM {samples} GROUP BY capture HAVING count(DISTINCT session) > 1
) AS several ON samples.capture = several.capture
"""

_GROUPS: Final = f"""
WITH groups AS (
    SELECT content AS hash FROM {{contents}}
    UNION SELECT mark FROM {{contents}} WHERE mark IS NOT NULL
)
SELECT hash % {HASH_MAX} AS hash FROM groups
"""
_SESSIONS: Final = (
    f"SELECT DISTINCT xxhash64(capture, session) % {HASH_MAX} AS hash FROM {{samples}}"
)

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
SELECT xxhash64(capture) AS capture, xxhash64(capture, session) AS spot, seq, trace_id,
    trace_id IS DISTINCT FROM seq AS is_changed
FROM {latencies}
"""

_TRACED: Final = """
SELECT samples.* EXCEPT (trace_id),
    CASE WHEN changed.seq IS NULL THEN samples.trace_id ELSE changed.trace_id END AS trace_id
FROM {samples} AS samples
LEFT SEMI JOIN (SELECT DISTINCT capture FROM {changed} WHERE is_changed) AS captures
    ON xxhash64(samples.capture) = captures.capture
LEFT JOIN {changed} AS changed
    ON samples.seq = changed.seq AND xxhash64(samples.capture, samples.session) = changed.spot
"""


# Of files that are written already, whose rows have a number.
_RETRACED: Final = """
SELECT samples.row, changed.trace_id
FROM {samples} AS samples
JOIN {changed} AS changed
    ON samples.seq = changed.seq AND xxhash64(samples.capture, samples.session) = changed.spot
"""


def contents_of(samples: DataFrame) -> DataFrame:
    """What is compared: payloads as numbers. It is read several times."""
    return query(_CONTENTS, samples=samples)


def contents_of_captures(samples: DataFrame) -> DataFrame:
    """The same, of captures in which several sessions have samples."""
    return contents_of(query(_SEVERAL, samples=samples))


def groups_of(contents: DataFrame) -> DataFrame:
    """Rows with one content, or one mark, are compared with each other, and with no others."""
    return conform(query(_GROUPS, contents=contents), SPANNING["content_groups"])


def sessions_of(samples: DataFrame) -> DataFrame:
    return conform(query(_SESSIONS, samples=samples), SPANNING["sample_sessions"])


def build(contents: DataFrame, keep: Callable[[str, DataFrame], DataFrame]) -> DataFrame:
    """From what the function above gives; `keep` holds on to a step that is read again."""
    measured = query(_MEASURED, numbered=publications.build(contents, keep))
    found = query(_LATENCIES, contents=contents, measured=measured)
    return conform(found, TABLES["latencies"])


def changed_of(latencies: DataFrame) -> DataFrame:
    """The `trace_id` of rows of samples, and whether it is another than readers write."""
    return query(_CHANGED, latencies=latencies)


def retraced(samples: DataFrame, changed: DataFrame) -> DataFrame:
    """`trace_id` of those samples for which it was found, by `row`."""
    return query(_RETRACED, samples=samples, changed=changed)


def traced(samples: DataFrame, changed: DataFrame) -> DataFrame:
    """All samples of captures in which a `trace_id` changes; the others stay as they were read."""
    return conform(query(_TRACED, samples=samples, changed=changed), TABLES["samples"])
