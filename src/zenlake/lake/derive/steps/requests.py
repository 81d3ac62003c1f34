"""Requests: the fields of each REQUEST with which responses and other requests are compared.

This is not a published table. Columns besides those of its event:

    deadline_ns           when the querier stops waiting; null if no timeout was sent
    consolidation_mode    none, monotonic, latest: which replies are delivered
    takes_any_key         whether replies for other keys than its own are accepted
    question              equal for requests that ask the same
    place, session_hash, is_number_used_again, final_seq, final_ns    as in `exchanges`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import query
from zenlake.lake.derive.steps.exchanges import PLACE
from zenlake.semantics.query_parameters import ANY_KEY, TIME_RANGE, parameter_pattern
from zenlake.wire import ConsolidationMode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TIMEOUT_MS_MAX: Final = 1e11
"""Three years: longer than any capture. A larger one might not fit into nanoseconds."""

# The querier's node resolves `auto`: to none for a query with a time range, else to latest
# (behaviour reference §2.5). `question` is a hash of the fields that every hop repeats. A hash
# ignores nulls; the numbers between columns make the position of a value count.
_SQL: Final = f"""
SELECT capture, session, place, session_hash, events.seq, time_ns, key, requester_zid,
    responder_zid, target, timeout_ms,
    CASE WHEN timeout_ms <= {_TIMEOUT_MS_MAX:.0f}
        THEN try_add(time_ns, CAST(timeout_ms * 1e6 AS BIGINT)) END AS deadline_ns,
    CASE WHEN consolidation <> '{ConsolidationMode.AUTO!s}' THEN consolidation
        WHEN parameters RLIKE '{parameter_pattern(TIME_RANGE)}' THEN '{ConsolidationMode.NONE!s}'
        ELSE '{ConsolidationMode.LATEST!s}' END AS consolidation_mode,
    coalesce(parameters RLIKE '{parameter_pattern(ANY_KEY)}', false) AS takes_any_key,
    xxhash64(key, 1, parameters, 2, target, 3, consolidation, 4, timeout_ms, 5, budget, 6,
        payload, 7, encoding, 8, attachment, 9, source) AS question,
    is_number_used_again, final_seq, final_ns
FROM {{events}} AS events
JOIN {{exchanges}} AS exchanges
    ON events.seq = exchanges.seq AND {PLACE} = exchanges.place
WHERE events.kind = 'REQUEST' AND exchanges.kind = 'REQUEST'
"""


def build(exchange_events: DataFrame, exchanges: DataFrame) -> DataFrame:
    """From the staged events, and the step `exchanges`."""
    return query(_SQL, events=exchange_events, exchanges=exchanges)
