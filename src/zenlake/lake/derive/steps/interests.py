"""Interests: which declarations one side requested, until when, and when it had all current ones.

INTEREST opens one under a number; D_FINAL of the other side marks that all current declarations
were sent; INTEREST of mode FINAL closes it (behaviour reference §3, §9). An interest of mode
current needs no closing: it ends with D_FINAL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SQL: Final = """
WITH numbered AS (
    SELECT *, count_if(event = 'open') OVER so_far AS lifetime
    FROM {events}
    WINDOW so_far AS (PARTITION BY capture, session, side, interest_id
        ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
lifetimes AS (
    -- Structs compare by their first field, which is the order of events.
    SELECT capture, session, side, interest_id,
        min(CASE WHEN event = 'open' THEN struct(seq, link, packet, time_ns, sender_zid,
            receiver_zid, mode, options, key) END) AS opened,
        min(CASE WHEN event = 'final' THEN struct(seq, time_ns) END) AS final,
        min(CASE WHEN event = 'close' THEN struct(seq, time_ns) END) AS close
    FROM numbered
    WHERE lifetime > 0  -- Events before the first INTEREST answer one that was not seen.
    GROUP BY capture, session, side, interest_id, lifetime
),
answered AS (
    SELECT capture, session, interest_id, opened.*, opened.time_ns AS opened_ns, close,
        CASE WHEN close IS NULL OR final.seq < close.seq THEN final.time_ns END AS final_ns
    FROM lifetimes
),
ended AS (
    SELECT answered.*, sessions.closed_ns AS session_closed_ns, CASE
        WHEN mode = 'current' AND final_ns IS NOT NULL THEN 'final'
        WHEN close IS NOT NULL THEN 'closed'
        WHEN sessions.closed_ns IS NOT NULL THEN 'session'
        END AS ended_by
    FROM answered
    LEFT JOIN {sessions} AS sessions
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
