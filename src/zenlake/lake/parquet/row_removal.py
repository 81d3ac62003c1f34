"""Writes a Parquet file again without the rows of some captures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

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


def divided(
    path: Path, name: str, capture: str, folder: Path
) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """The rows of one capture, and those of others, as files; None if it has none of the first."""
    own, others = ParquetFiles(folder / "own", TABLES), ParquetFiles(folder / "others", TABLES)
    try:
        for batch in batches_of(path):
            rows = with_all_columns(pa.Table.from_batches([batch]), name)
            is_own = pc.equal(rows.column("capture").cast(pa.string()), capture)
            for files, chosen in ((own, is_own), (others, pc.invert(is_own))):
                part = rows.filter(chosen)
                if part.num_rows:
                    files.write({name: [part]})
    except (OSError, pa.ArrowInvalid) as error:
        own.abandon()
        others.abandon()
        raise LakeError(f"cannot be read: {' '.join(str(error).split())}", path) from None
    written = [one._asdict() for one in own.close()]
    rest = [one._asdict() for one in others.close()]
    return (written[0], rest) if written else None


def batches_of(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(_ROWS_AT_ONCE)


def with_all_columns(rows: pa.Table, name: str, kinds: Mapping[str, Table] = TABLES) -> pa.Table:
    """Adds the columns that the file lacks, with nulls."""
    for field in kinds[name].arrow:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows
