"""Verdicts: the outcome of a query as a word and as a sentence, in SQL expressions.

Both use columns of `queries`: counts of responses, times (`final_ns`, `deadline_ns`, `end_ns` of
session or capture) and facts of the exchange. The sentence answers "why did this query get no
reply?", with figures, and nodes and packets to look at.
"""

from __future__ import annotations

from typing import Final

from zenlake.lake.derive.steps.figures import counted, ms
from zenlake.semantics.verdicts import VERDICTS

CONDITIONS: Final = {
    "reply_after_final": "late > 0",
    "timeout": """final_ns > deadline_ns OR (final_ns IS NULL AND end_ns > deadline_ns)
        OR (replies = 0 AND errors > 0 AND errors = timeouts)""",
    "answered": "replies > 0",
    "error": "errors > 0",
    "empty": "final_ns IS NOT NULL",
    # If the number was reused, session and capture went on: their ends explain nothing.
    "interrupted": "closed_ns IS NOT NULL AND NOT is_number_used_again",
    "open": "NOT is_number_used_again",
    "no_final": "is_number_used_again",
}
"""By verdict; each condition may assume that no earlier one is true."""

VERDICT: Final = " ".join(
    ["CASE", *(f"WHEN {CONDITIONS[verdict]} THEN '{verdict}'" for verdict in VERDICTS), "END"]
)

_TIMEOUT: Final = "the timeout of ', timeout_words, '"

_CAME_WORDS: Final = f"""concat(
        concat_ws(' and ',
            CASE WHEN replies > 0 THEN {counted("replies", "reply", "replies")} END,
            CASE WHEN errors > 0 THEN {counted("errors", "error", "errors")} END),
        if(replies + errors = 1, ' after ', ', the first after '), {ms("first_answer_ms")})"""
"""Such as `2 replies and 1 error, the first after 0.9 ms`."""

_CAME_OR_NOT: Final = "if(replies + errors > 0, came_words, 'no reply')"

_ENDED_AFTER: Final = f"""coalesce(concat(
        ' ', {ms("greatest((end_ns - time_ns) / 1e6D, 0D)")}, ' after the request'), '')"""

_ENDED_WORDS: Final = f"""CASE
        WHEN is_number_used_again THEN 'its number was used again by a later request'
        WHEN closed_ns IS NOT NULL THEN concat('the session ended',
            coalesce(concat(' (', coalesce(close_reason, outcome), ')'), ''), {_ENDED_AFTER})
        ELSE concat('the capture ended', {_ENDED_AFTER},
            coalesce(concat(', before its timeout of ', {ms("timeout_ms")}), ''))
        END"""
"""What ended first, if the final response did not come."""

WORDS: Final = f"""
    {ms("timeout_ms")} AS timeout_words,
    {ms("final_ms")} AS final_after_words,
    {_CAME_WORDS} AS came_words,
    {_ENDED_WORDS} AS ended_words"""
"""Columns that `REASON` uses. Inserted in it they would be repeated many times, and an engine takes
longer to plan so long a statement than to run it on a small capture."""

_FINAL: Final = """coalesce(
        concat('final after ', final_after_words),
        concat('but the final response is missing: ', ended_words))"""

_AFTER_FINAL: Final = f"""concat(
        if(late_errors = 0, {counted("late", "reply", "replies")},
            {counted("late", "answer", "answers")}), ' came ',
        if(late = 1, '', 'after the final response, the first '),
        {ms("(first_late_ns - final_ns) / 1e6D")}, ' after ',
        if(late = 1, 'the final response', 'it'), ' (packet ', first_late_packet, ')',
        if(late = 1, ' and is dropped', ', and are dropped'),
        if(replies + errors > late, concat('; ', replies + errors - late, ' came in time'), ''))"""

_SILENT: Final = f"""concat(
        CASE WHEN silent_zid = responder_zid THEN concat('node ', responder_zid,
                ' says that its queryable did not answer')
            ELSE concat('node ', coalesce(responder_zid, '(not known)'), ' says that node ',
                coalesce(silent_zid, '(not known)'), ' did not answer') END,
        coalesce(concat(' within {_TIMEOUT}'), ' in time'),
        if(replies > 0, concat('; ', came_words), '; no reply'))"""

_TIMED_OUT: Final = f"""CASE
        WHEN timeouts > 0 THEN {_SILENT}
        WHEN final_ns IS NOT NULL THEN concat('the final response came after ',
            final_after_words, ', later than {_TIMEOUT}; ', {_CAME_OR_NOT})
        WHEN replies + errors > 0 THEN concat(came_words, ', but the final response never came: ',
            '{_TIMEOUT} passed (does a queryable still hold the query?)')
        ELSE concat('neither a reply nor the final response came: {_TIMEOUT} passed')
        END"""

_ANSWERED: Final = f"""CASE
        WHEN replies = delivered_replies THEN concat(came_words, ', ', {_FINAL})
        ELSE concat(delivered_replies, ' of ', {counted("replies", "reply", "replies")},
            ' delivered: ', concat_ws('; ',
                CASE WHEN consolidated > 0 THEN concat('consolidation ', consolidation_mode,
                    if(consolidation_mode = 'latest', ' kept the newest of each key',
                        ' dropped what was older than delivered before')) END,
                CASE WHEN elsewhere > 0 THEN concat(elsewhere,
                    ' for keys that were not asked for') END,
                CASE WHEN errors > 0
                    THEN concat('besides ', {counted("errors", "error", "errors")}) END,
                {_FINAL}))
        END"""

REASONS: Final = {
    "reply_after_final": _AFTER_FINAL,
    "timeout": _TIMED_OUT,
    "answered": _ANSWERED,
    "error": f"concat(came_words, ' and no reply, ', {_FINAL})",
    "empty": f"concat(': ', {_FINAL}, ' without any reply')",
    "interrupted": "concat(ended_words, ' without any answer')",
    "open": "concat('no answer yet: ', ended_words)",
    "no_final": "concat('the final response never came: ', ended_words)",
}
REASON: Final = " ".join(
    ["CASE verdict", *(f"WHEN '{verdict}' THEN {REASONS[verdict]}" for verdict in VERDICTS), "END"]
)
"""The verdict in words; for an empty query without the beginning, which says why it is empty."""

NOBODY_ANSWERED: Final = "no queryable answered"
"""The beginning if the cause is not known."""
