"""Exchanges: every REQUEST, RESPONSE and RESPONSE_FINAL, with the exchange it belongs to.

A request is known by its number and the side of the session that sent it; answers repeat the
number (behaviour reference §9). Numbers are used again, so an exchange begins at each REQUEST
and takes all that follows until the next one. What comes before the first has lost its REQUEST.

Not a published table: queries and replies are two ways to look at this one. Every event carries
what answers are judged by, so that nothing has to be put together again; payloads stay with
their own events. Columns besides those of the events:

    query_seq             seq of the REQUEST; null where that was not seen, as are the next six
    query_ns              when it was asked
    query_key             what was asked
    query_timeout_ms      how long the querier waits; null where it did not say
    deadline_ns           when that is over
    consolidation_mode    none, monotonic, latest: which replies it wants
    takes_any_key         whether replies for other keys than its own are welcome
    is_number_used_again  whether a later REQUEST has the same number
    final_seq, final_ns   of the first RESPONSE_FINAL; null without one
    after_final           whether it came after that one
    after_deadline        whether it came after the deadline
    newest_seq            of the newest reply in time that has the same key
    newest_packet         its packet
    is_older              whether a reply of the same key before it, in time, is newer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.tables.conform import query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TIMEOUT_MS_MAX: Final = 1e11
"""Three years: a longer one passes in no capture, and might not fit into nanoseconds."""

# The hash stands first because sorting looks at the first column first, and a number is quick.
_NUMBER: Final = "hash, capture, session, side, request_id"

# What windows do not look at travels as one value: that is copied whole, not column by column.
# `auto` is what the querier's node makes of it: a query over time wants all, any other the
# latest (behaviour reference §2.5).
_ASKED: Final = f"""
SELECT xxhash64(capture, session, side, request_id) AS hash,
    capture, session, side, request_id, seq, packet, time_ns, kind, key,
    coalesce(timestamp_order, '') AS stamp,
    struct(link, requester_zid, responder_zid, parameters, target, consolidation, timeout_ms,
        budget, payload, encoding, attachment, source, replier_zid, replier_eid, timestamp,
        priority, congestion, express) AS load,
    CASE WHEN kind = 'REQUEST' THEN struct(
        seq AS query_seq,
        time_ns AS query_ns,
        key AS query_key,
        timeout_ms AS query_timeout_ms,
        CASE WHEN timeout_ms <= {_TIMEOUT_MS_MAX:.0f}
            THEN try_add(time_ns, CAST(timeout_ms * 1e6 AS BIGINT)) END AS deadline_ns,
        CASE WHEN consolidation <> 'auto' THEN consolidation
            WHEN parameters RLIKE '(^|;)_time(=|;|$)' THEN 'none'
            ELSE 'latest' END AS consolidation_mode,
        coalesce(parameters RLIKE '(^|;)_anyke(=|;|$)', false) AS takes_any_key
    ) END AS request
FROM {{events}}
"""

_NUMBERED: Final = f"""
WITH numbered AS (
    SELECT * EXCEPT (request),
        last(request, true) OVER so_far AS query,
        coalesce(last(request.query_seq, true) OVER so_far, min(seq) OVER so_far) AS exchange_seq,
        max(request.query_seq) OVER at_any_time AS last_query_seq,
        max(CASE WHEN kind = 'FINAL' THEN seq END) OVER so_far AS last_final_seq
    FROM {{asked}}
    WINDOW
        so_far AS (PARTITION BY {_NUMBER} ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
        at_any_time AS (PARTITION BY {_NUMBER} ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
)
SELECT * EXCEPT (last_query_seq, last_final_seq),
    query.query_seq < last_query_seq AS is_number_used_again,
    coalesce(last_final_seq >= exchange_seq AND kind <> 'FINAL', false) AS after_final,
    coalesce(time_ns > query.deadline_ns, false) AS after_deadline
FROM numbered
"""

# No timestamp is older than any; of two that are the same the later one counts as newer. Structs
# compare by their first field. The window of keys goes first: its order serves the other as well.
_COMPARED: Final = f"""
WITH candidates AS (
    SELECT *, CASE WHEN kind IN ('PUT', 'DEL') AND NOT after_final AND NOT after_deadline
        THEN struct(stamp, seq, packet) END AS candidate
    FROM {{numbered}}
),
compared AS (
    SELECT * EXCEPT (candidate, stamp),
        max(candidate) OVER at_any_time AS newest,
        coalesce(stamp < max(candidate.stamp) OVER before, false) AS is_older
    FROM candidates
    WINDOW
        at_any_time AS (PARTITION BY {_NUMBER}, exchange_seq, key ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
        before AS (PARTITION BY {_NUMBER}, exchange_seq, key ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
finished AS (
    SELECT *, min(CASE WHEN kind = 'FINAL' THEN struct(seq, time_ns) END)
        OVER (PARTITION BY {_NUMBER}, exchange_seq) AS final
    FROM compared
)
SELECT * EXCEPT (hash, side, exchange_seq, load, query, newest, final), load.*, query.*,
    newest.seq AS newest_seq,
    newest.packet AS newest_packet,
    final.seq AS final_seq,
    final.time_ns AS final_ns
FROM finished
"""


def build(exchange_events: DataFrame) -> DataFrame:
    """From the staged events."""
    asked = query(_ASKED, events=exchange_events)
    return query(_COMPARED, numbered=query(_NUMBERED, asked=asked))
