"""Compares the rows of two lakes, regardless of their files and order."""

from __future__ import annotations

from pathlib import Path

import duckdb

from zenlake.lake.publish import Snapshot, Store
from zenlake.lake.schema import TABLES

READ = ("read_ns", "read_at")
"""Columns of `captures` that differ between runs."""


def differences(
    one: Path, other: Path, left_out: tuple[str, ...] = READ, with_names: bool = True
) -> dict[str, tuple[int, int]]:
    """By table, rows that only the first or only the second lake has; equal tables are omitted.

    Not compared are the columns `left_out` of `captures`, and without `with_names` the names of
    captures.
    """
    found = {}
    first, second = Store(one).snapshot(), Store(other).snapshot()
    for table in TABLES:
        columns = f"* EXCLUDE ({', '.join(left_out)})" if table == "captures" else "*"
        if not with_names:
            columns += " REPLACE ('' AS capture)"
        a, b = (f"SELECT {columns} FROM {_files(lake, table)}" for lake in (first, second))
        only_a = _count(f"({a} EXCEPT ALL {b})")
        # The other difference takes as long, and follows from the numbers of rows.
        only_b = only_a + _count(_files(second, table)) - _count(_files(first, table))
        if only_a or only_b:
            found[table] = (only_a, only_b)
    return found


def counts(lake: Path) -> dict[str, int]:
    """The number of rows by table."""
    snapshot = Store(lake).snapshot()
    return {table: _count(_files(snapshot, table)) for table in TABLES}


def _files(lake: Snapshot, table: str) -> str:
    return f"read_parquet({[str(file) for file in lake.files(table)]}, union_by_name = true)"


def _count(rows: str) -> int:
    row = duckdb.execute(f"SELECT count(*) FROM {rows}").fetchone()
    assert row is not None
    return int(row[0])
