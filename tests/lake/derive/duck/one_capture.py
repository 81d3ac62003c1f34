"""Derives all tables of one capture on DuckDB, in the process of the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake import trace
from zenlake.lake.derive.duck import Engine, build_tables
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.lake.schema import TABLES

Rows = dict[str, list[dict[str, Any]]]


def tables_of(path: Path, folder: Path) -> Rows:
    folder.mkdir(exist_ok=True)
    files: dict[str, list[str]] = {}
    found: Rows = {}
    for table, rows in stage(str(path), str(path)).items():
        files[table] = [str(folder / f"{table}.parquet")]
        pq.write_table(rows, files[table][0])
        found[table] = rows.to_pylist()
    with trace.open(str(path)) as opened:
        for _ in opened:
            pass
        last_ns = opened.last_ns
    captures = [{"capture": str(path), "last_ns": last_ns}]
    captures_file = str(folder / "captures.parquet")
    pq.write_table(pa.Table.from_pylist(captures, TABLES["captures"].arrow), captures_file)
    with Engine(folder) as engine:
        for name, frames in build_tables(engine, [files], [captures_file]).items():
            batches = [batch for frame in frames for batch in frame.batches()]
            found[name] = [row for batch in batches for row in batch.to_pylist()]
    return found
