"""Replaces `trace_id` in files of `samples`, which is found after they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.parquet.column_replacement import with_column
from zenlake.lake.parquet.parquet_files import column_options
from zenlake.lake.parquet.statistics import TextBounds, statistics

_TRACE_ID: Final = "trace_id"
_BOUNDS: Final = ("minValues", "maxValues", "nullCount")


def replace_trace_ids(source: Path, target: Path, found: pa.Table) -> bool:
    """Writes a copy with the `trace_id` of some rows (`row` in `found`); False if none changes."""
    before = pq.read_table(source, columns=[_TRACE_ID]).column(_TRACE_ID).combine_chunks()
    values = before.fill_null(0).to_numpy(zero_copy_only=False).copy()
    is_null = before.is_null().to_numpy(zero_copy_only=False).copy()
    rows = found.column("row").to_numpy()
    changed = found.column(_TRACE_ID)
    values[rows] = changed.fill_null(0).to_numpy()
    is_null[rows] = changed.is_null().to_numpy()
    after = pa.array(values, pa.int64(), mask=is_null)
    if after.equals(before):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with_column(source, target, _TRACE_ID, after, **column_options(_TRACE_ID))
    return True


def with_copies(files: list[dict[str, Any]], copies: dict[str, str]) -> list[dict[str, Any]]:
    """The list of files, in which copies replace the originals."""
    return [
        _describe_copy(file, copies[file["path"]]) if file["path"] in copies else file
        for file in files
    ]


def _describe_copy(file: dict[str, Any], path: str) -> dict[str, Any]:
    """The description of a copy; other columns keep their bounds."""
    known = json.loads(file["stats"])
    stats = json.loads(statistics(pq.read_metadata(path), TextBounds()))
    for name in _BOUNDS:
        if _TRACE_ID in stats[name]:
            known[name][_TRACE_ID] = stats[name][_TRACE_ID]
        else:
            known[name].pop(_TRACE_ID, None)
    return {**file, "path": path, "size": Path(path).stat().st_size, "stats": json.dumps(known)}
