"""Measures: figures that several commands show, each defined here once.

- messages: rows of `messages`, with FRAMEs and FRAGMENTs, as `decode --count` counts them
- queries: REQUESTs that are not the next hop of another one; hops: all rows of `queries`
- recorded time: how long at least one capture was running
- violations: how often rules were broken, as `check` counts; a note once for each side
- undecoded bytes: those that gave no message, by state
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

FIRST_HOP: Final = "(q.trace_id IS NULL OR q.trace_id = q.seq)"
"""Of a row `q` of `queries`: whether it stands for its query, and not for a later hop of it."""

VIOLATIONS: Final = "sum(coalesce(times, 1))::BIGINT"
"""Of rows of `violations`, some of which stand for many; older lakes do not say for how many."""

_UNDECODED: Final = re.compile(r"(\w+): (\d+) bytes")


def recorded_spans(captures: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """First and last packet of each capture, with those that overlap as one, in order."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted(captures):
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    return spans


def recorded_ns(captures: Iterable[tuple[int, int]]) -> int:
    """Without the time between captures, in which nobody recorded."""
    return sum(last - first for first, last in recorded_spans(captures))


def undecoded_text(sizes: Mapping[str, int]) -> str | None:
    """As `captures.undecoded` says it."""
    return "; ".join(f"{state}: {size} bytes" for state, size in sizes.items()) or None


def undecoded_sizes(text: str | None) -> dict[str, int]:
    """The other way round."""
    return {state: int(size) for state, size in _UNDECODED.findall(text or "")}
