"""Where `sql` and `report` find tables: in a lake, or in captures that are read first."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from zenlake.cli.output import complain
from zenlake.cli.pipeline_progress import ProgressLine
from zenlake.cli.sql_process import bounded
from zenlake.errors import LocalError

if TYPE_CHECKING:
    from pathlib import Path

    from zenlake.lake.publish.snapshot import Snapshot
    from zenlake.report.database import Tables

_ALLOCATIONS_BETWEEN_COLLECTIONS: Final = 50_000


def start_quickly(args: argparse.Namespace) -> None:
    """Before anything large is imported, in a process of our own."""
    if not getattr(args, "is_own_process", False):
        return
    # Rows and modules form hardly any cycles: to look for some takes a tenth of the time.
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
    # NumPy starts threads for algebra that is not done here; each of them first waits in a loop.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Source(NamedTuple):
    tables: Tables
    is_damaged: bool = False
    """Whether a capture was read only as far as possible."""


@contextmanager
def opened_lake(
    command: str, directory: str, tables: Collection[str] | None = None, is_copied: bool = True
) -> Iterator[Source]:
    """One version of it. Of a lake in a store, `tables` are copied, all where none are named.

    A statement runs in a process of its own, in which delta-rs does not work: all that it says is
    asked before.
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
    """Tables of a lake, named as the lake they come from."""

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
    """Of the tables those that `query` asks, or `tables`; without both, all. See `direct.read`."""
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
            found = stack.enter_context(direct.read(captures, tables, progress.tell, as_read))
        finally:
            progress.end()
        for path in found.damaged:
            complain(f"{path}: damaged, read as far as possible")
        yield Source(found, bool(found.damaged))


def _check(captures: list[str], query: str, args: argparse.Namespace) -> None:
    """Runs the query on empty tables, so within the limits of the query itself."""
    from zenlake.lake import direct

    def check() -> int:
        direct.check(captures, query)
        return 0

    bounded(check, args)


@contextmanager
def needs_extra(command: str, extra: str) -> Iterator[None]:
    """A package that is not installed is said in words."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("zenlake"):
            raise
        wanted = f"zenlake {command} needs the {extra} extra: pip install 'zenlake[{extra}]'"
        raise LocalError(wanted) from None
