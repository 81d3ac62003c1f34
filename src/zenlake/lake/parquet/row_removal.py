"""Writes a Parquet file again without the rows of some captures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zenlake.lake.errors import LakeError
from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table

_ROWS_AT_ONCE: Final = 65_536


def rewrite_without(
    path: Path, name: str, gone: frozenset[str], folder: Path
) -> WrittenFile | None:
    """The file without the rows of these captures; None if it has none of them."""
    names = pa.array(sorted(gone), pa.string())
    files = ParquetFiles(folder, TABLES)
    is_changed = False
    try:
        for batch in batches_of(path):
            rows = pa.Table.from_batches([batch])
            keep = pc.invert(pc.is_in(rows.column("capture").cast(pa.string()), names))
            chosen = rows.filter(keep)
            is_changed = is_changed or chosen.num_rows < rows.num_rows
            files.write({name: [with_all_columns(chosen, name)]})
    except (OSError, pa.ArrowInvalid) as error:
        files.abandon()
        raise LakeError(f"cannot be read: {' '.join(str(error).split())}", path) from None
    if not is_changed:
        files.abandon()
        return None
    written = files.close()
    return written[0] if written else WrittenFile(name, "", 0, 0, "")


def batches_of(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(_ROWS_AT_ONCE)


def with_all_columns(rows: pa.Table, name: str, kinds: Mapping[str, Table] = TABLES) -> pa.Table:
    """Adds the columns that the file lacks, with nulls."""
    for field in kinds[name].arrow:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows
