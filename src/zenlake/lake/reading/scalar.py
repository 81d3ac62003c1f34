"""All rows of a trace, on the scalar road, which reads everything there is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import pyarrow as pa

from zenlake import trace
from zenlake.lake.reading.judge import TABLE, Judge
from zenlake.lake.reading.row_tables import new_rows, take
from zenlake.trace.rows.row_maker import RowMaker
from zenlake.trace.trace import Trace

ROWS_AT_ONCE: Final = 65_536
_STEPS: Final = 256
"""After so many it is asked how many rows there are."""


def tables(
    trace: Trace, capture: str, only: Collection[str] | None = None
) -> Iterator[dict[str, pa.Table]]:
    """A bounded number of rows at a time; all tables, or `only` some."""
    rows = new_rows(capture, only)
    road = RowMaker(trace, rows)
    judge = Judge(rows)
    for step, (item, events) in enumerate(trace.steps()):
        road.feed(item, events)
        judge.feed(item, events)
        if step % _STEPS == 0 and len(rows) >= ROWS_AT_ONCE:
            yield take(rows)
    road.end()
    judge.finish()
    yield take(rows, is_end=True)


def findings(trace: Trace, capture: str) -> Iterator[dict[str, pa.Table]]:
    """What breaks the rules, and nothing else."""
    rows = new_rows(capture, (TABLE,))
    judge = Judge(rows)
    for step, (item, events) in enumerate(trace.steps()):
        judge.feed(item, events)
        if step % _STEPS == 0 and len(rows) >= ROWS_AT_ONCE:
            yield take(rows)
    judge.finish()
    yield take(rows, is_end=True)


def stage(path: str, capture: str) -> dict[str, pa.Table]:
    """Everything one capture gives, at once: for small ones and for tests."""
    found: dict[str, list[pa.Table]] = {}
    with trace.open(path) as opened:
        for parts in tables(opened, capture):
            for name, part in parts.items():
                found.setdefault(name, []).append(part)
    return {name: pa.concat_tables(parts) for name, parts in found.items()}
