"""Small captures for a store: two tables whose rows say which capture and edition they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.store import CaptureFiles, Run, Store

SCHEMAS = {
    "messages": pa.schema({"capture": pa.string(), "edition": pa.int64(), "key": pa.string()}),
    "samples": pa.schema({"capture": pa.string(), "edition": pa.int64(), "payload": pa.binary()}),
}
ROWS = {"messages": 3, "samples": 2}


def write(path: Path, schema: Any, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path


def empty_files(folder: Path) -> dict[str, Path]:
    return {name: write(folder / f"{name}-0", schema, []) for name, schema in SCHEMAS.items()}


def capture(folder: Path, path: str, edition: int = 1) -> CaptureFiles:
    """`ROWS` rows of a capture, in one file a table."""
    files = {}
    for table, schema in SCHEMAS.items():
        row = {"capture": path, "edition": edition, "key": f"robot/{edition}", "payload": b"\0hi"}
        file = folder / f"{table}-{path.replace('/', '-')}-{edition}.parquet"
        files[table] = [write(file, schema, [row] * ROWS[table])]
    return CaptureFiles(f"{edition:064x}", 100, files, ROWS, {"first_ns": 1, "last_ns": 2})


def add(run: Run, *paths: str, edition: int = 1) -> int:
    captures = {path: capture(run.staging, path, edition) for path in paths}
    return run.publish(captures, empty_files=empty_files(run.staging))


def lake(directory: Path, *paths: str) -> Store:
    store = Store(directory)
    with store.begin() as run:
        add(run, *paths)
    return store


def contents(store: Store) -> dict[str, list[tuple[str, int]]]:
    """Capture and edition of every row of one version, by table."""
    snapshot = store.snapshot()
    return {table: rows_of(snapshot.files(table)) for table in SCHEMAS}


def rows_of(files: list[Path]) -> list[tuple[str, int]]:
    rows: list[tuple[str, int]] = []
    for file in files:
        columns = pq.ParquetFile(file).read(["capture", "edition"]).to_pydict()
        rows += zip(columns["capture"], columns["edition"], strict=True)
    return sorted(rows)


def expected(editions: dict[str, int]) -> dict[str, list[tuple[str, int]]]:
    return {table: sorted([*editions.items()] * ROWS[table]) for table in SCHEMAS}
