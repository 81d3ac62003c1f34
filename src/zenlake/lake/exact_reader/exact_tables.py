"""ExactReader: the steps of a trace to Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import pyarrow as pa

from zenlake import trace
from zenlake.lake.exact_reader.row_tables import drain_tables, new_rows
from zenlake.lake.exact_reader.violations import TABLE, ViolationRecorder
from zenlake.trace.events import TraceEvent
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.rows.row_maker import RowMaker
from zenlake.trace.trace import Steps, Trace

Tables = dict[str, list[pa.Table]]
Write = Callable[[Tables], None]

ROWS_AT_ONCE: Final = 65_536
_STEPS: Final = 256
"""How many steps pass between two checks of the number of rows."""


class ExactReader:
    """`feed` takes the steps of a trace and returns tables when there are many rows."""

    def __init__(self, trace: Trace, capture: str, only: Collection[str] | None = None) -> None:
        """Makes all tables, or `only` some."""
        self._rows = new_rows(capture, only)
        self._violations = ViolationRecorder(self._rows, trace)
        self._maker = RowMaker(trace, self._rows) if self._rows.tables.keys() - {TABLE} else None
        self._step = 0

    def feed(self, item: LinkItem, events: list[TraceEvent]) -> Tables:
        """Adds rows; returns the tables of all rows so far, or none while there are few."""
        if self._maker is not None:
            self._maker.feed(item, events)
        self._violations.feed(item, events)
        self._step += 1
        if self._step % _STEPS == 1 and len(self._rows) >= ROWS_AT_ONCE:
            return self._pop_tables()
        return {}

    def write_steps(self, steps: Steps, write: Write) -> None:
        """Feeds steps, and calls `write` with tables whenever there are many rows."""
        for item, events in steps:
            tables = self.feed(item, events)
            if tables:
                write(tables)

    def finish(self) -> Tables:
        """The tables of the remaining rows, after the last step."""
        if self._maker is not None:
            self._maker.finish()
        self._violations.finish()
        return self._pop_tables(is_end=True)

    def _pop_tables(self, is_end: bool = False) -> Tables:
        return {name: [table] for name, table in drain_tables(self._rows, is_end).items()}


def stage(path: Path | str, capture: str) -> dict[str, pa.Table]:
    """All tables of one capture at once, for small captures and tests."""
    found: Tables = {}

    def add(tables: Tables) -> None:
        for name, parts in tables.items():
            found.setdefault(name, []).extend(parts)

    with trace.open(str(path)) as opened:
        reader = ExactReader(opened, capture)
        reader.write_steps(opened.steps(), add)
        add(reader.finish())
    return {name: pa.concat_tables(parts) for name, parts in found.items()}
