"""Exchanges: every REQUEST, RESPONSE and RESPONSE_FINAL, with the exchange it belongs to.

A request is identified by its number and the side of the session that sent it; responses repeat the
number (behaviour reference §9). Numbers are reused, so an exchange begins at each REQUEST and has
all messages until the next one. Messages before the first have lost their REQUEST.

This is not a published table: queries and replies look up here to which exchange an event belongs.
All other columns stay with the events, because windows sort their input and joins keep it in
memory: both are fastest with few numbers. Columns besides `seq` and `kind`:

    place                 a hash of `capture` and `link`, within which `seq` is unique
    session_hash          a hash of `capture` and `session`, within which `query_seq` is unique
    query_seq             seq of the REQUEST; null if that was not seen, like the next column
    is_number_used_again  whether a later REQUEST has the same number
    final_seq, final_ns   of the first RESPONSE_FINAL; null without one
    after_final           whether it came after that one
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PLACE: Final = "xxhash64(capture, link)"
SESSION_HASH: Final = "xxhash64(capture, session)"

# Windows get few columns, all of them numbers: those are sorted fastest.
_NUMBER: Final = "session_hash, side, request_id"

_NUMBERED: Final = f"""
WITH asked AS (
    SELECT {SESSION_HASH} AS session_hash, side, request_id, {PLACE} AS place, seq, time_ns, kind,
        CASE WHEN kind = 'REQUEST' THEN seq END AS asked_seq,
        CASE WHEN kind = 'FINAL' THEN seq END AS ended_seq
    FROM {{events}}
),
numbered AS (
    SELECT * EXCEPT (asked_seq, ended_seq),
        max(asked_seq) OVER so_far AS query_seq,
        max(asked_seq) OVER at_any_time AS last_query_seq,
        max(ended_seq) OVER so_far AS last_final_seq,
        min(seq) OVER so_far AS first_seq
    FROM asked
    WINDOW
        so_far AS (PARTITION BY {_NUMBER} ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
        at_any_time AS (PARTITION BY {_NUMBER} ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
exchanges AS (
    SELECT * EXCEPT (last_query_seq, last_final_seq, first_seq),
        coalesce(query_seq, first_seq) AS exchange_seq,
        query_seq < last_query_seq AS is_number_used_again,
        coalesce(last_final_seq >= coalesce(query_seq, first_seq) AND kind <> 'FINAL', false)
            AS after_final
    FROM numbered
),
-- Structs compare by their first field.
finals AS (
    SELECT session_hash, side, request_id, exchange_seq, min(struct(seq, time_ns)) AS final
    FROM exchanges WHERE kind = 'FINAL' GROUP BY session_hash, side, request_id, exchange_seq
)
SELECT place, exchanges.session_hash, seq, kind, query_seq, is_number_used_again, after_final,
    final.seq AS final_seq,
    final.time_ns AS final_ns
FROM exchanges LEFT JOIN finals
    ON exchanges.exchange_seq = finals.exchange_seq
    AND exchanges.session_hash = finals.session_hash
    AND exchanges.request_id = finals.request_id
    AND exchanges.side = finals.side
"""


def build(exchange_events: DataFrame) -> DataFrame:
    """From the staged events."""
    return query(_NUMBERED, events=exchange_events)
