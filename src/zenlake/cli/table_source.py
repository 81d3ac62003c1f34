"""The tables of `sql` and `report`: from a lake, or from captures that are read first."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from zenlake.cli.capture_options import collect_garbage_less_often
from zenlake.cli.extras import needs_extra
from zenlake.cli.output import print_error
from zenlake.cli.pipeline_progress import ProgressLine
from zenlake.cli.sql_process import bounded

if TYPE_CHECKING:
    from pathlib import Path

    from zenlake.lake.publish.snapshot import Snapshot
    from zenlake.report.database import Tables


def start_quickly(args: argparse.Namespace) -> None:
    """Set process-wide options before large modules are imported."""
    if not getattr(args, "is_own_process", False):
        return
    collect_garbage_less_often()
    # NumPy would start threads for linear algebra, which is not used; each spins for a while.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Source(NamedTuple):
    tables: Tables
    is_damaged: bool = False
    """Whether a capture is damaged and was read as far as possible."""


@contextmanager
def opened_lake(
    command: str, directory: str, tables: Collection[str] | None = None, is_copied: bool = True
) -> Iterator[Source]:
    """One version of the lake. From a store, `tables` (None: all) are copied to this machine.

    A statement runs in a child process, in which delta-rs does not work: so lists of files are read
    and tables are copied before.
    """
    with needs_extra(command, "sql"):
        from zenlake.lake.publish.local_copy import on_this_machine
        from zenlake.lake.publish.store import Store
    store = Store(directory)
    if not is_copied:
        yield Source(store)
        return
    with on_this_machine(store.snapshot().with_all_names(), tables) as snapshot:
        yield Source(_CopiedTables(store.directory, snapshot))


class _CopiedTables:
    """Copied tables, with the name of their lake."""

    def __init__(self, directory: Path, snapshot: Snapshot) -> None:
        self.directory = directory
        self._snapshot = snapshot

    def snapshot(self) -> Snapshot:
        return self._snapshot


@contextmanager
def opened_captures(
    command: str,
    args: argparse.Namespace,
    captures: list[str],
    query: str | None = None,
    tables: Collection[str] | None = None,
    as_read: Collection[str] = (),
) -> Iterator[Source]:
    """The tables that `query` names, or `tables`, or else all. See `direct.read`."""
    with needs_extra(command, "sql"):
        from zenlake.lake import direct
    if query is not None:
        _check(captures, query, args)
    if getattr(args, "is_own_process", False):
        direct.keep_pandas_out()
    progress = ProgressLine(sys.stderr, is_silent=False)
    with ExitStack() as stack:
        try:
            if query is not None:
                tables = direct.tables_in(query)
            found = stack.enter_context(
                direct.read(captures, tables, progress.pipeline_step, as_read)
            )
        finally:
            progress.end()
        for path in found.damaged:
            print_error(f"{path}: damaged, read as far as possible")
        yield Source(found, bool(found.damaged))


def _check(captures: list[str], query: str, args: argparse.Namespace) -> None:
    """Run the query on empty tables, to report its errors before captures are read."""
    from zenlake.lake import direct

    def check() -> int:
        direct.check(captures, query)
        return 0

    bounded(check, args)
