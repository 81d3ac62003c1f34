"""Latencies: which rows of `samples` are hops of one publication, and how long each took.

`publications.py` decides which rows are one publication. A publication that crossed only one
session has no row here.
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

# Windows sort their input and joins keep it in memory, so both get only numbers. A hash ignores
# nulls; the numbers between columns make the position of a value count. New columns:
#   spot                       session, within which `seq` is unique
#   content                    equal for equal publications of one capture
#   hop, sender, receiver      session and sender; the nodes at its ends
#   mark                       identity that the publisher or a router sent along
#   stamper                    the node that added the timestamp, like `sender` and `receiver`
_CONTENTS: Final = """
WITH hashed AS (
    SELECT time_ns, seq, kind, payload, encoding, attachment, source_zid, source_eid, source_sn,
        timestamp_ns,
        xxhash64(capture, session) AS spot,
        xxhash64(capture, key) AS topic,
        CASE WHEN sender_zid IS NOT NULL THEN xxhash64(sender_zid) END AS sender,
        CASE WHEN receiver_zid IS NOT NULL THEN xxhash64(receiver_zid) END AS receiver,
        CASE WHEN timestamp IS NOT NULL THEN xxhash64(timestamp) END AS stamp,
        CASE WHEN timestamp IS NOT NULL THEN xxhash64(split_part(timestamp, '/', 2)) END AS stamper
    FROM {samples}
    WHERE ignored IS NULL AND key IS NOT NULL
)
SELECT time_ns, seq, spot, sender, receiver, stamp, timestamp_ns AS stamp_ns, stamper,
    xxhash64(topic, 1, kind, 2, payload, 3, encoding, 4, attachment, 5,
        source_zid, 6, source_eid, 7, source_sn) AS content,
    xxhash64(spot, 1, sender) AS hop,
    CASE WHEN source_sn IS NOT NULL
            THEN xxhash64(topic, 1, source_zid, 2, source_eid, 3, source_sn)
        WHEN stamp IS NOT NULL THEN xxhash64(topic, 4, stamp) END AS mark
FROM hashed
"""

# A capture in which one session has all samples needs no comparison.
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

# A publication of one row, known by its timestamp, has unknown earlier hops, so no latency.
_MEASURED: Final = """
WITH publications AS (
    SELECT publication, min(seq) AS trace_id, min(struct(seq, spot, sender)) AS first,
        CASE WHEN count(*) > 1 THEN min(time_ns) END AS sent_ns
    FROM {numbered} WHERE publication IS NOT NULL GROUP BY publication
),
passed_on AS (
    SELECT DISTINCT publication, sender FROM {numbered} WHERE publication IS NOT NULL
)
SELECT numbered.spot, numbered.seq, trace_id, sent_ns,
    CASE WHEN is_known THEN first.sender END AS publisher,
    CASE WHEN numbered.publication IS NOT NULL THEN passed_on.sender IS NULL END AS is_last
FROM {numbered} AS numbered
LEFT JOIN publications ON numbered.publication = publications.publication
LEFT JOIN passed_on ON numbered.publication = passed_on.publication
    AND numbered.receiver = passed_on.sender
"""

_PUBLISHERS: Final = """
SELECT DISTINCT xxhash64(sender_zid) AS hash, sender_zid AS publisher_zid
FROM {samples} WHERE sender_zid IS NOT NULL
"""

_FOUND: Final = """measured.trace_id, sent_ns, is_last, publisher_zid,
    (time_ns - sent_ns) / 1e6D AS latency_ms
FROM {samples} AS samples
JOIN {measured} AS measured
    ON samples.seq = measured.seq AND xxhash64(capture, session) = measured.spot
LEFT JOIN {publishers} AS publishers ON measured.publisher = publishers.hash
"""
_LATENCIES: Final = f"""
SELECT capture, session, link, packet, time_ns, samples.seq, kind, key, sender_zid,
    receiver_zid, {_FOUND}"""

# For files that are already written, by row number.
_OF_ROWS: Final = f"SELECT samples.row, {_FOUND}"

# Readers write `trace_id` as if each row were the first hop of its publication.
_TRACED: Final = """
WITH changed AS (
    SELECT DISTINCT samples.capture FROM {samples} AS samples
    JOIN (SELECT * FROM {measured} WHERE trace_id IS DISTINCT FROM seq) AS measured
        ON samples.seq = measured.seq
        AND xxhash64(samples.capture, samples.session) = measured.spot
)
SELECT samples.* EXCEPT (trace_id),
    CASE WHEN measured.seq IS NULL THEN samples.trace_id ELSE measured.trace_id END AS trace_id
FROM {samples} AS samples
LEFT SEMI JOIN changed ON samples.capture = changed.capture
LEFT JOIN {measured} AS measured
    ON samples.seq = measured.seq AND xxhash64(samples.capture, samples.session) = measured.spot
"""


def contents_of(samples: DataFrame) -> DataFrame:
    """Samples with the columns above: payloads become hashes."""
    return query(_CONTENTS, samples=samples)


def contents_of_captures(samples: DataFrame) -> DataFrame:
    """The same for captures in which several sessions have samples."""
    return contents_of(query(_SEVERAL, samples=samples))


def groups_of(contents: DataFrame) -> DataFrame:
    """Groups of rows that are compared: those with the same content, or the same mark."""
    return conform(query(_GROUPS, contents=contents), SPANNING["content_groups"])


def sessions_of(samples: DataFrame) -> DataFrame:
    return conform(query(_SESSIONS, samples=samples), SPANNING["sample_sessions"])


def measure(contents: DataFrame, keep: Callable[[str, DataFrame], DataFrame]) -> DataFrame:
    """From the frame of `contents_of`: what `latencies` has besides the columns of `samples`.

    Rows have the `spot` and `seq` of a sample; `trace_id` is the `seq` of its first hop, and
    `publisher` the hash of the node that sent that. `keep` stores a step that is read several
    times.
    """
    return measure_numbered(keep("publications", publications.build(contents, keep)))


def measure_numbered(numbered: DataFrame) -> DataFrame:
    """The same from the frame of `publications.build`."""
    return query(_MEASURED, numbered=numbered)


def build(samples: DataFrame, measured: DataFrame) -> DataFrame:
    """From samples and the frame of `measure`."""
    found = query(_LATENCIES, samples=samples, measured=measured, publishers=publishers_of(samples))
    return conform(found, TABLES["latencies"])


def publishers_of(samples: DataFrame) -> DataFrame:
    """Senders by their hash."""
    return query(_PUBLISHERS, samples=samples)


def of_rows(samples: DataFrame, measured: DataFrame, publishers: DataFrame) -> DataFrame:
    """By `row` of a file of samples: the columns of `latencies` that `samples` lacks.

    `publishers` are those of all samples.
    """
    return query(_OF_ROWS, samples=samples, measured=measured, publishers=publishers)


def traced(samples: DataFrame, measured: DataFrame) -> DataFrame:
    """All samples of captures in which a `trace_id` changes."""
    return conform(query(_TRACED, samples=samples, measured=measured), TABLES["samples"])
