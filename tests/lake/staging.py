"""Files of staged tables, as the exact reader makes them of captures."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.lake.schema import TABLES


def stage_files(path: Path | str, capture: str, folder: Path) -> dict[str, list[str]]:
    """The file of each table of one capture."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for table, rows in stage(path, capture).items():
        files[table] = [str(folder / f"{table}.parquet")]
        pq.write_table(rows, files[table][0])
    return files


def write_captures(folder: Path, last_ns: dict[str, int]) -> str:
    """A file of the table `captures`, with the time of the last packet by capture."""
    path = str(folder / "captures.parquet")
    rows = [{"capture": name, "last_ns": last} for name, last in last_ns.items()]
    pq.write_table(pa.Table.from_pylist(rows, TABLES["captures"].arrow), path)
    return path
