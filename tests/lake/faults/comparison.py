"""Compares the rows of two lakes, regardless of their files and order."""

from __future__ import annotations

from pathlib import Path

import duckdb

from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES


def differences(one: Path, other: Path) -> dict[str, int]:
    """By table, the number of rows that only one of the lakes has; equal tables are omitted."""
    found = {}
    for table in TABLES:
        a, b = _rows(one, table), _rows(other, table)
        text = f"SELECT count(*) FROM (({a} EXCEPT ALL {b}) UNION ALL ({b} EXCEPT ALL {a}))"
        row = duckdb.execute(text).fetchone()
        assert row is not None
        if row[0]:
            found[table] = int(row[0])
    return found


def counts(lake: Path) -> dict[str, int]:
    """The number of rows by table."""
    found = {}
    for table in TABLES:
        row = duckdb.execute(f"SELECT count(*) FROM ({_rows(lake, table)})").fetchone()
        assert row is not None
        found[table] = int(row[0])
    return found


def _rows(lake: Path, table: str) -> str:
    files = ", ".join(f"'{file}'" for file in Store(lake).files(table))
    # The time of reading differs between runs.
    columns = "* EXCLUDE (read_ns, read_at)" if table == "captures" else "*"
    return f"SELECT {columns} FROM read_parquet([{files}], union_by_name = true)"


def leftovers(lake: Path) -> list[str]:
    """Files that a finished run should have removed: staged files, and files of no version."""
    staged = [f"_staging/{name.name}" for name in lake.glob("_staging/*")]
    found = []
    for file in lake.glob("*/*.parquet"):
        logs = file.parent.glob("_delta_log/*.json")
        if not any(file.name in log.read_text() for log in logs):
            found.append(f"{file.parent.name}/{file.name}")
    return staged + found
