"""Small captures for a lake: rows of two tables that contain their capture and edition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.address import parse
from zenlake.lake.parquet.parquet_files import ParquetFiles
from zenlake.lake.publish import Run, Store
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION

ROWS = {"messages": 3, "samples": 2}

Files = dict[str, list[dict[str, Any]]]


def written(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> Files:
    """Files of a task with these rows, by table."""
    files = ParquetFiles(folder, TABLES)
    for table, listed in rows.items():
        files.write({table: [pa.Table.from_pylist(listed, TABLES[table].arrow)]})
    found: Files = {}
    for one in files.close():
        found.setdefault(one.table, []).append(one._asdict())
    return found


def capture_row(path: str, edition: int = 1, **facts: Any) -> dict[str, Any]:
    return {
        "capture": path,
        "sha256": f"{edition:064x}",
        "bytes": 100,
        "first_ns": 1,
        "last_ns": 2,
        "messages": ROWS["messages"],
        "samples": ROWS["samples"],
        "address": str(parse(path)),
        "schema_version": VERSION,
        **facts,
    }


def rows_of_captures(paths: tuple[str, ...], edition: int = 1) -> dict[str, list[dict[str, Any]]]:
    """`ROWS` rows of each capture; `seq` is the edition."""
    return {
        table: [
            {"capture": path, "seq": edition, "key": f"robot/{edition}", "time_ns": 5}
            for path in paths
            for _ in range(count)
        ]
        for table, count in ROWS.items()
    }


def add(run: Run, *paths: str, edition: int = 1) -> int:
    """Adds captures, with all rows in one file for each table."""
    files = written(Path(run.staging.path), rows_of_captures(paths, edition)) if paths else {}
    return run.publish([capture_row(path, edition) for path in paths], files)


def publish(store: Store, *paths: str, edition: int = 1) -> int:
    """Adds captures in a run of their own."""
    with store.begin() as run:
        return add(run, *paths, edition=edition)


def remove(store: Store, *paths: str) -> int:
    with store.begin() as run:
        return run.publish(remove=set(paths))


def lake(directory: Path, *paths: str) -> Store:
    """A lake with one run for each capture, so that each capture has its own files."""
    store = Store(directory)
    for path in paths:
        publish(store, path)
    if not paths:
        publish(store)
    return store


def contents(store: Store) -> dict[str, list[tuple[str, int]]]:
    """Capture and edition of every row of one version, by table."""
    snapshot = store.snapshot()
    return {table: rows_in(snapshot.files(table)) for table in ROWS}


def rows_in(files: list[Path]) -> list[tuple[str, int]]:
    rows: list[tuple[str, int]] = []
    for file in files:
        columns = pq.ParquetFile(file).read(["capture", "seq"]).to_pydict()
        rows += zip(columns["capture"], columns["seq"], strict=True)
    return sorted(rows)


def expected(editions: dict[str, int]) -> dict[str, list[tuple[str, int]]]:
    return {table: sorted([*editions.items()] * count) for table, count in ROWS.items()}
