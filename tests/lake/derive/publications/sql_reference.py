"""The rows of `latencies` by SQL: an independent definition, with which the steps are compared.

Each statement is one step; `{name}` is the result of another one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.lake.derive.steps.cases import collected
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.duck.dialect import translate
from zenlake.lake.derive.publications.places import SENDING_NS_MAX
from zenlake.lake.schema import TABLES

FOUND = ("capture", "seq", "trace_id", "sent_ns", "is_last", "publisher_zid", "latency_ms")
"""Columns of the result."""

_CONTENTS = """
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

_SEVERAL = """
SELECT samples.* FROM {samples} AS samples
LEFT SEMI JOIN (
    SELECT capture FROM {samples} GROUP BY capture HAVING count(DISTINCT session) > 1
) AS several ON samples.capture = several.capture
"""

_SPLIT = """
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

_CERTAIN = """
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

_NUMBERED = f"""
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
            AND max(first_ns) - min(first_ns) < {SENDING_NS_MAX}
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

_UNEVEN = """
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

_MATCHED = """
SELECT numbered.spot, numbered.seq, time_ns, sender, receiver,
    is_known OR uneven.seq IS NOT NULL AS is_known,
    coalesce(uneven.publication, numbered.publication) AS publication
FROM {numbered} AS numbered
LEFT JOIN {uneven} AS uneven ON numbered.seq = uneven.seq AND numbered.spot = uneven.spot
"""

_MEASURED = """
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

_FOUND = """
SELECT capture, samples.seq, measured.trace_id, sent_ns, is_last,
    publishers.publisher_zid, (time_ns - sent_ns) / 1e6D AS latency_ms
FROM {samples} AS samples
JOIN {measured} AS measured
    ON samples.seq = measured.seq AND xxhash64(capture, session) = measured.spot
LEFT JOIN (
    SELECT DISTINCT xxhash64(sender_zid) AS hash, sender_zid AS publisher_zid
    FROM {samples} WHERE sender_zid IS NOT NULL
) AS publishers ON measured.publisher = publishers.hash
"""


class _Translating(Engine):
    def translated(self, text: str) -> str:
        return translate(text)


def rows_by_sql(samples: pa.Table, folder: Path) -> list[dict[str, Any]]:
    """Ordered by capture and `seq`, with the columns `FOUND`."""
    path = folder / "samples_for_sql.parquet"
    pq.write_table(samples, path)
    with _Translating(folder) as engine:
        rows = engine.read(TABLES["samples"], [str(path)])
        chosen = engine.keep(engine.sql(_SEVERAL, samples=rows))
        contents = engine.keep(engine.sql(_CONTENTS, samples=chosen))
        split = engine.keep(engine.sql(_SPLIT, contents=contents))
        certain = engine.keep(engine.sql(_CERTAIN, split=split))
        numbered = engine.keep(engine.sql(_NUMBERED, split=split, certain=certain))
        uneven = engine.keep(engine.sql(_UNEVEN, numbered=numbered))
        matched = engine.keep(engine.sql(_MATCHED, numbered=numbered, uneven=uneven))
        measured = engine.keep(engine.sql(_MEASURED, numbered=matched))
        found = collected(engine.sql(_FOUND, samples=rows, measured=measured))
    return sorted(found, key=lambda row: (row["capture"], row["seq"]))
