"""Rows of a capture or recording, without a lake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from zenlake.lake import direct


def rows_of(path: Path, table: str) -> list[dict[str, Any]]:
    with direct.read([str(path)], [table]) as tables:
        files = tables.snapshot().files(table)
        return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
