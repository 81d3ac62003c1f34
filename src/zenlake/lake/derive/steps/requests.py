"""Requests: what each REQUEST asks, as far as answers and other requests are compared with it.

Not a published table. Columns besides those of its event:

    deadline_ns           when the querier stops to wait; null where it did not say
    consolidation_mode    none, monotonic, latest: which replies it wants
    takes_any_key         whether replies for other keys than its own are welcome
    question              the same number for what asks the same
    place, talk, is_number_used_again, final_seq, final_ns    as in `exchanges`
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
"""Three years: a longer one passes in no capture, and might not fit into nanoseconds."""

# `auto` is what the querier's node makes of it: a query over time wants all, any other the
# latest (behaviour reference §2.5). What every hop repeats is one question. A hash passes over
# nulls; the numbers between make it matter which column has a value.
_SQL: Final = f"""
SELECT capture, session, place, talk, events.seq, time_ns, key, requester_zid, responder_zid,
    target, timeout_ms,
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
    """From the staged events, and the step of this name."""
    return query(_SQL, events=exchange_events, exchanges=exchanges)
