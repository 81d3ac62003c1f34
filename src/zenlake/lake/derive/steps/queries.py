"""Queries: one row for each REQUEST, with its replies and its verdict.

The cause of an empty query depends on all sessions of its capture, everything else on its own
session. So rows are made in two steps: `build`, then `explain` for the empty ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.derive.steps.verdicts import NOBODY_ANSWERED, REASON, VERDICT, WORDS
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Counts of responses for each query:
#   late, late_errors    after the final response
#   timeouts             errors by which a hop reports that the next node did not answer; it writes
#                        the word, and that node as replier (behaviour reference §4.5)
#   consolidated         replies that newer ones replaced
#   elsewhere            replies for keys that were not requested
_ANSWERS: Final = """
WITH marked AS (
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
FROM marked
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
judged AS (SELECT *, {VERDICT} AS verdict, NULL AS cause FROM found),
worded AS (SELECT *, {WORDS} FROM judged)
SELECT *, {REASON} AS reason FROM worded
"""

_NOT_EMPTY: Final = "SELECT * FROM {queries} WHERE verdict <> 'empty'"
_UNEXPLAINED: Final = "SELECT * FROM {queries} WHERE verdict = 'empty'"

_EXPLAINED: Final = f"""
SELECT unexplained.* EXCEPT (cause, reason), causes.cause,
    concat(coalesce(because, '{NOBODY_ANSWERED}'), reason) AS reason
FROM {{unexplained}} AS unexplained
LEFT JOIN {{causes}} AS causes
    ON unexplained.seq = causes.seq
    AND unexplained.session = causes.session
    AND unexplained.capture = causes.capture
"""


def build(
    exchange_events: DataFrame,
    requests: DataFrame,
    replies: DataFrame,
    sessions: DataFrame,
    captures: DataFrame,
) -> DataFrame:
    """From the staged events, requests with their traces, and three published tables.

    Empty queries still lack their cause and the beginning of their reason.
    """
    judged = query(
        _JUDGED,
        events=exchange_events,
        requests=requests,
        answers=query(_ANSWERS, replies=replies),
        sessions=sessions,
        captures=captures,
    )
    return conform(judged, TABLES["queries"])


def not_empty(queries: DataFrame) -> DataFrame:
    return query(_NOT_EMPTY, queries=queries)


def unexplained(queries: DataFrame) -> DataFrame:
    return query(_UNEXPLAINED, queries=queries)


def explain(unexplained: DataFrame, causes: DataFrame) -> DataFrame:
    """Empty queries with what `unanswered.build` found."""
    found = query(_EXPLAINED, unexplained=unexplained, causes=causes)
    return conform(found, TABLES["queries"])
