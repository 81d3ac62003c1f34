"""Interests: which declarations one side requested, until when, and when it had all current ones.

INTEREST opens one under a number; D_FINAL of the other side marks that all current declarations
were sent; INTEREST of mode FINAL closes it (behaviour reference §3, §9). An interest of mode
current needs no closing: it ends with D_FINAL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.derive.steps.exchanges import PLACE, SESSION_HASH
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Windows get few columns, all of them numbers: those are sorted fastest.
_SQL: Final = f"""
WITH hashed AS (
    SELECT {SESSION_HASH} AS session_hash, side, interest_id, seq, {PLACE} AS place,
        time_ns, event
    FROM {{events}}
),
numbered AS (
    SELECT *, count_if(event = 'open') OVER so_far AS lifetime
    FROM hashed
    WINDOW so_far AS (PARTITION BY session_hash, side, interest_id
        ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
lifetimes AS (
    -- Structs compare by their first field, which is the order of events.
    SELECT min(CASE WHEN event = 'open' THEN struct(seq, place) END) AS opened,
        min(CASE WHEN event = 'final' THEN struct(seq, time_ns) END) AS final,
        min(CASE WHEN event = 'close' THEN struct(seq, time_ns) END) AS close
    FROM numbered
    WHERE lifetime > 0  -- Events before the first INTEREST answer one that was not seen.
    GROUP BY session_hash, side, interest_id, lifetime
),
answered AS (
    SELECT events.*, events.time_ns AS opened_ns, close,
        CASE WHEN close IS NULL OR final.seq < close.seq THEN final.time_ns END AS final_ns
    FROM {{events}} AS events
    JOIN lifetimes
        ON events.seq = lifetimes.opened.seq
        AND xxhash64(events.capture, events.link) = lifetimes.opened.place
    WHERE event = 'open'
),
ended AS (
    SELECT answered.*, sessions.closed_ns AS session_closed_ns, CASE
        WHEN mode = 'current' AND final_ns IS NOT NULL THEN 'final'
        WHEN close IS NOT NULL THEN 'closed'
        WHEN sessions.closed_ns IS NOT NULL THEN 'session'
        END AS ended_by
    FROM answered
    LEFT JOIN {{sessions}} AS sessions
        ON answered.capture = sessions.capture AND answered.session = sessions.session
)
SELECT *, CASE ended_by
    WHEN 'closed' THEN close.time_ns
    WHEN 'session' THEN session_closed_ns
    END AS closed_ns
FROM ended
"""


def build(interest_events: DataFrame, sessions: DataFrame) -> DataFrame:
    """From the staged events; the published sessions end what was not closed."""
    ends = sessions.select("capture", "session", "closed_ns")
    return conform(query(_SQL, events=interest_events, sessions=ends), TABLES["interests"])
