"""Derives all tables of one capture on DuckDB, in the process of the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.lake.derive.steps.cases import collected
from tests.lake.staging import stage_files, write_captures
from zenlake import trace
from zenlake.lake.derive.duck import Engine, build_tables

Rows = dict[str, list[dict[str, Any]]]


def tables_of(path: Path, folder: Path) -> Rows:
    files = stage_files(path, str(path), folder)
    found: Rows = {table: pq.read_table(file).to_pylist() for table, [file] in files.items()}
    with trace.open(str(path)) as opened:
        for _ in opened:
            pass
        captures = write_captures(folder, {str(path): opened.last_ns or 0})
    with Engine(folder) as engine:
        for name, frames in build_tables(engine, [files], [captures]).items():
            found[name] = [row for frame in frames for row in collected(frame)]
    return found
