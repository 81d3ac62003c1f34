"""Interests: what one side asked to be told of, until when, and when it had heard all.

INTEREST opens one under a number; D_FINAL of the other side says that all there is now was
told; INTEREST of mode FINAL closes it (behaviour reference §3, §9). One that asks only for what
is there now needs no closing: it ends with D_FINAL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SQL: Final = """
WITH numbered AS (
    SELECT *, count_if(event = 'open') OVER so_far AS life
    FROM {events}
    WINDOW so_far AS (PARTITION BY capture, session, side, interest_id
        ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
lives AS (
    -- Structs compare by their first field, which is the order of events.
    SELECT capture, session, side, interest_id,
        min(CASE WHEN event = 'open' THEN struct(seq, link, packet, time_ns, sender_zid,
            receiver_zid, mode, options, key) END) AS opened,
        min(CASE WHEN event = 'final' THEN struct(seq, time_ns) END) AS final,
        min(CASE WHEN event = 'close' THEN struct(seq, time_ns) END) AS close
    FROM numbered
    WHERE life > 0  -- What comes before the first answers one that was not seen.
    GROUP BY capture, session, side, interest_id, life
),
answered AS (
    SELECT capture, session, interest_id, opened.*, opened.time_ns AS opened_ns, close,
        CASE WHEN close IS NULL OR final.seq < close.seq THEN final.time_ns END AS final_ns
    FROM lives
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
    """From the staged events, and the published sessions for the ends nobody declared."""
    ends = sessions.select("capture", "session", "closed_ns")
    return conform(query(_SQL, events=interest_events, sessions=ends), TABLES["interests"])
