"""Compares the rows of lakes and of other tables, regardless of their files and order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from zenlake.lake.publish import Snapshot, Store
from zenlake.lake.schema import TABLES

READ = ("read_ns", "read_at")
"""Columns of `captures` that differ between runs."""


@dataclass(frozen=True)
class Tables:
    """Tables that are in no lake: their files, by table."""

    paths: dict[str, list[Path]]

    def files(self, table: str) -> list[Path]:
        return self.paths[table]


def differences(
    one: Path, other: Path | Tables, left_out: tuple[str, ...] = READ, with_names: bool = True
) -> dict[str, tuple[int, int]]:
    """By table, rows that only the first or only the second lake has; equal tables are omitted.

    Not compared are the columns `left_out` of `captures`, and without `with_names` the names of
    captures.
    """
    found = {}
    first, second = _tables(one), _tables(other)
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


def counts(lake: Path | Tables) -> dict[str, int]:
    """The number of rows by table."""
    tables = _tables(lake)
    return {table: _count(_files(tables, table)) for table in TABLES}


def _tables(lake: Path | Tables) -> Snapshot | Tables:
    return lake if isinstance(lake, Tables) else Store(lake).snapshot()


def _files(lake: Snapshot | Tables, table: str) -> str:
    return f"read_parquet({[str(file) for file in lake.files(table)]}, union_by_name = true)"


def _count(rows: str) -> int:
    row = duckdb.execute(f"SELECT count(*) FROM {rows}").fetchone()
    assert row is not None
    return int(row[0])
