"""Compares a lake that followed a recording with one run of the pipeline over the same packets."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from tests.capture.recorded import write_capture
from zenlake.capture.packet import Packet
from zenlake.lake.pipeline import run as run_pipeline
from zenlake.lake.publish import Snapshot, Store
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEFT_OUT: Final = "read_ns, read_at, sha256, bytes, address"
"""Columns of `captures` that depend on the file, and not on its packets."""


def batch_lake(folder: Path, packets: Sequence[Packet], spark: SparkSession) -> Path:
    """A new lake with these packets, read from one file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    capture = write_capture(folder / "capture.pcapng", packets)
    run_pipeline([str(capture)], folder / "lake", spark)
    return folder / "lake"


def differences(one: Path, other: Path) -> dict[str, tuple[int, int]]:
    """By table, rows that only the first or only the second lake has; equal tables are omitted."""
    found = {}
    first, second = Store(one).snapshot(), Store(other).snapshot()
    for table in TABLES:
        a, b = _rows(first, table), _rows(second, table)
        counts = (_count(f"{a} EXCEPT ALL {b}"), _count(f"{b} EXCEPT ALL {a}"))
        if any(counts):
            found[table] = counts
    return found


def rows(lake: Path) -> dict[str, int]:
    snapshot = Store(lake).snapshot()
    return {table: _count(_rows(snapshot, table)) for table in TABLES}


def _count(text: str) -> int:
    row = duckdb.execute(f"SELECT count(*) FROM ({text})").fetchone()
    assert row is not None
    return int(row[0])


def _rows(snapshot: Snapshot, table: str) -> str:
    files = [str(file) for file in snapshot.files(table)]
    columns = f"* EXCLUDE ({_LEFT_OUT})" if table == "captures" else "*"
    source = f"read_parquet({files}, union_by_name = true)"
    return f"SELECT {columns} REPLACE ('' AS capture) FROM {source}"
