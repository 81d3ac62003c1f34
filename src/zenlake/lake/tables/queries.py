"""Queries: one row for each REQUEST, with what came back and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.schema import TABLES
from zenlake.lake.tables.conform import conform, query
from zenlake.lake.tables.verdicts import REASON, VERDICT, WORDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What came back, counted for each query:
#   late, late_errors    after the final response
#   timeouts             errors by which a hop says that the next node was silent; it writes the
#                        word, and that node as replier (behaviour reference §4.5)
#   consolidated         replies that gave way to newer ones
#   elsewhere            replies for keys that were not asked for
_ANSWERS: Final = """
WITH told AS (
    SELECT *, kind = 'ERR' AS is_error,
        kind = 'ERR' AND coalesce(payload = CAST('Timeout' AS BINARY), false) AS is_timeout
    FROM {replies}
    WHERE query_seq IS NOT NULL
)
SELECT capture, session, query_seq,
    count_if(NOT is_error) AS replies,
    count_if(is_error) AS errors,
    count_if(delivered) AS delivered,
    count_if(delivered AND NOT is_error) AS delivered_replies,
    count_if(after_final) AS late,
    count_if(after_final AND is_error) AS late_errors,
    count_if(is_timeout) AS timeouts,
    count_if(startswith(dropped_because, 'latest:') OR startswith(dropped_because, 'monotonic:'))
        AS consolidated,
    count_if(startswith(dropped_because, 'its key')) AS elsewhere,
    min(CASE WHEN NOT is_error THEN time_ns END) AS first_reply_ns,
    min(time_ns) AS first_answer_ns,
    min(CASE WHEN after_final THEN time_ns END) AS first_late_ns,
    min(CASE WHEN after_final THEN packet END) AS first_late_packet,
    min(CASE WHEN is_timeout THEN replier_zid END) AS silent_zid
FROM told
GROUP BY capture, session, query_seq
"""

_JUDGED: Final = f"""
WITH found AS (
    SELECT events.*, requests.deadline_ns, requests.consolidation_mode,
        requests.is_number_used_again, requests.final_ns, requests.trace_id,
        answers.* EXCEPT (
            capture, session, query_seq, replies, errors, delivered, late
        ),
        coalesce(answers.replies, 0) AS replies,
        coalesce(answers.errors, 0) AS errors,
        coalesce(answers.delivered, 0) AS delivered,
        coalesce(answers.late, 0) AS late,
        sessions.closed_ns, sessions.outcome, sessions.close_reason,
        least(sessions.closed_ns, captures.last_ns) AS end_ns,
        (first_reply_ns - events.time_ns) / 1e6D AS first_reply_ms,
        (first_answer_ns - events.time_ns) / 1e6D AS first_answer_ms,
        (final_ns - events.time_ns) / 1e6D AS final_ms
    FROM {{events}} AS events
    JOIN {{requests}} AS requests
        ON events.seq = requests.seq
        AND xxhash64(events.capture, events.link) = requests.place
    LEFT JOIN {{answers}} AS answers
        ON events.seq = answers.query_seq
        AND events.session = answers.session
        AND events.capture = answers.capture
    LEFT JOIN {{sessions}} AS sessions
        ON events.capture = sessions.capture AND events.session = sessions.session
    LEFT JOIN {{captures}} AS captures
        ON events.capture = captures.capture
    WHERE events.kind = 'REQUEST'
),
judged AS (SELECT *, {VERDICT} AS verdict FROM found),
explained AS (
    SELECT judged.*, if(verdict = 'empty', causes.cause, NULL) AS cause, causes.because
    FROM judged
    LEFT JOIN {{causes}} AS causes
        ON judged.seq = causes.seq
        AND judged.session = causes.session
        AND judged.capture = causes.capture
),
worded AS (SELECT *, {WORDS} FROM explained)
SELECT *, {REASON} AS reason FROM worded
"""


def build(
    exchange_events: DataFrame,
    requests: DataFrame,
    replies: DataFrame,
    sessions: DataFrame,
    captures: DataFrame,
    causes: DataFrame,
) -> DataFrame:
    """From the staged events, requests with their traces, three published tables, and causes."""
    judged = query(
        _JUDGED,
        events=exchange_events,
        requests=requests,
        answers=query(_ANSWERS, replies=replies),
        sessions=sessions,
        captures=captures,
        causes=causes,
    )
    return conform(judged, TABLES["queries"])
