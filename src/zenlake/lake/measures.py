"""Measures: figures that several commands show, each defined once.

- messages: rows of `messages`, with FRAMEs and FRAGMENTs, as `decode --count` counts them
- queries: REQUESTs that are not the next hop of another one; hops: all rows of `queries`
- failed queries: those whose outcome is a failure by `semantics/verdicts.py`
- recorded time: the time during which at least one capture was running
- violations: how often rules were broken, as in `check`; a note counts once for each side
- undecoded bytes: bytes that gave no message, by state
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from zenlake.semantics.causes import OWN_QUERYABLE
from zenlake.semantics.verdicts import INSIDE, OUTCOMES

FIRST_HOP: Final = "(q.trace_id IS NULL OR q.trace_id = q.seq)"
"""Whether a row `q` of `queries` is the first hop of its query."""

OUTCOME: Final = f"CASE WHEN q.cause = '{OWN_QUERYABLE}' THEN '{INSIDE}' ELSE q.verdict END"
"""The verdict; `inside` if the queryable is in the same node, whose replies no link shows."""

_SUCCESSES: Final = ", ".join(f"'{name}'" for name, one in OUTCOMES.items() if not one.failed)
FAILED: Final = f"{OUTCOME} NOT IN ({_SUCCESSES})"
"""Whether a row `q` of `queries` failed."""

VIOLATIONS: Final = "sum(coalesce(times, 1))::BIGINT"
"""The number of violations; a row may stand for several (`times`, null in older lakes)."""

_UNDECODED: Final = re.compile(r"(\w+): (\d+) bytes")


def recorded_spans(captures: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The times of first and last packets, in order; captures that overlap are one span."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted(captures):
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    return spans


def recorded_ns(captures: Iterable[tuple[int, int]]) -> int:
    """The recorded time, without the time between captures."""
    return sum(last - first for first, last in recorded_spans(captures))


def undecoded_text(sizes: Mapping[str, int]) -> str | None:
    """The text of `captures.undecoded`."""
    return "; ".join(f"{state}: {size} bytes" for state, size in sizes.items()) or None


def undecoded_sizes(text: str | None) -> dict[str, int]:
    """The inverse of `undecoded_text`."""
    return {state: int(size) for state, size in _UNDECODED.findall(text or "")}
