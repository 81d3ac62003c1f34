"""Exchanges: every REQUEST, RESPONSE and RESPONSE_FINAL, with the exchange it belongs to.

A request is known by its number and the side of the session that sent it; answers repeat the
number (behaviour reference §9). Numbers are used again, so an exchange begins at each REQUEST
and takes all that follows until the next one. What comes before the first has lost its REQUEST.

Not a published table: queries and replies are two ways to look at this one. `capture`,
`session` and `exchange_seq` name an exchange. Every event carries what answers are judged by,
so that nothing has to be joined again; payloads stay with their own events. Columns besides
those of the events:

    exchange_seq          seq of the REQUEST, of the first event where that was not seen
    query_seq             seq of the REQUEST; null where that was not seen, as are the next six
    query_ns              when it was asked
    query_key             what was asked
    query_timeout_ms      how long the querier waits; null where it did not say
    deadline_ns           when that is over
    consolidation_mode    none, monotonic, latest: which replies it wants
    takes_any_key         whether replies for other keys than its own are welcome
    is_number_used_again  whether a later REQUEST has the same number
    final_seq, final_ns   of the first RESPONSE_FINAL; null without one
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

# `auto` is what the querier's node makes of it: a query over time wants all, any other the
# latest (behaviour reference §2.5).
_SQL: Final = f"""
WITH asked AS (
    SELECT *, xxhash64(capture, session, side, request_id) AS hash,
        CASE WHEN kind = 'REQUEST' THEN struct(
        seq, time_ns, key, timeout_ms,
        CASE WHEN timeout_ms <= {_TIMEOUT_MS_MAX:.0f}
            THEN try_add(time_ns, CAST(timeout_ms * 1e6 AS BIGINT)) END AS deadline_ns,
        CASE WHEN consolidation <> 'auto' THEN consolidation
            WHEN parameters RLIKE '(^|;)_time(=|;|$)' THEN 'none'
            ELSE 'latest' END AS mode,
        coalesce(parameters RLIKE '(^|;)_anyke(=|;|$)', false) AS takes_any_key
    ) END AS request
    FROM {{events}}
),
numbered AS (
    SELECT * EXCEPT (request),
        last(request, true) OVER so_far AS query,
        coalesce(last(request.seq, true) OVER so_far, min(seq) OVER so_far) AS exchange_seq,
        max(request.seq) OVER at_any_time AS last_query_seq
    FROM asked
    WINDOW
        so_far AS (PARTITION BY {_NUMBER} ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
        at_any_time AS (PARTITION BY {_NUMBER} ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
finished AS (
    SELECT *,
        -- Structs compare by their first field, which is the order of events.
        min(CASE WHEN kind = 'FINAL' THEN struct(seq, time_ns) END)
            OVER (PARTITION BY {_NUMBER}, exchange_seq) AS final
    FROM numbered
)
SELECT * EXCEPT (hash, query, last_query_seq, final),
    query.seq AS query_seq,
    query.time_ns AS query_ns,
    query.key AS query_key,
    query.timeout_ms AS query_timeout_ms,
    query.deadline_ns AS deadline_ns,
    query.mode AS consolidation_mode,
    query.takes_any_key AS takes_any_key,
    query.seq < last_query_seq AS is_number_used_again,
    final.seq AS final_seq,
    final.time_ns AS final_ns
FROM finished
"""


def build(exchange_events: DataFrame) -> DataFrame:
    """From the staged events."""
    return query(_SQL, events=exchange_events)
