"""Lakes as releases before Delta tables wrote them, with any tables and columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.publish import Store


class OldRows(NamedTuple):
    """Rows of one capture in one table; the file may lack columns."""

    capture: str
    table: str
    schema: pa.Schema
    rows: Sequence[Mapping[str, Any]]


def make(
    directory: Path, schemas: Mapping[str, pa.Schema], parts: Sequence[OldRows], version: int = 7
) -> Store:
    """Writes the lake; `schemas` has the newest schema of each table."""
    folder = directory / "_versions" / str(version)
    for table, schema in schemas.items():
        (folder / table).mkdir(parents=True)
        pq.write_table(schema.empty_table(), folder / table / "empty.parquet")
        (directory / table).symlink_to(f"_current/{table}")
    entries: dict[str, dict[str, Any]] = {}
    for number, part in enumerate(parts):
        name = f"{number}.parquet"
        rows = pa.Table.from_pylist([dict(row) for row in part.rows], part.schema)
        pq.write_table(rows, folder / part.table / name)
        entry = entries.setdefault(
            part.capture,
            {"path": part.capture, "sha256": "1", "size": 9, "files": {}, "rows": {}, "info": {}},
        )
        entry["files"].setdefault(part.table, []).append(name)
        entry["rows"][part.table] = len(part.rows)
    document = {
        "schema_version": 4,
        "version": version,
        "created_ns": 1,
        "tables": list(schemas),
        "captures": list(entries.values()),
    }
    (folder / "manifest.json").write_text(json.dumps(document))
    (directory / "_current").symlink_to(f"_versions/{version}")
    return Store(directory)
