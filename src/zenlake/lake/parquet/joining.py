"""Joins small Parquet files of one table to a larger one; rows do not change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.parquet.row_removal import ROWS_AT_ONCE, arrow_errors, parts_of
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table


def joined_files(
    paths: Iterable[Path], name: str, folder: Path, kinds: Mapping[str, Table] = TABLES
) -> WrittenFile:
    """A file in `folder` with the rows of all files, in their order."""
    held: list[pa.Table] = []
    rows = 0
    with arrow_errors("joined", folder), ParquetFiles(folder, kinds) as files:
        for path in paths:
            for part in parts_of(path, name, kinds):
                held.append(part)
                rows += part.num_rows
                if rows >= ROWS_AT_ONCE:
                    files.write({name: [_unify_types(held)]})
                    held, rows = [], 0
        if held:
            files.write({name: [_unify_types(held)]})
    [written] = files.close()
    return written


def _unify_types(parts: list[pa.Table]) -> pa.Table:
    """Makes types of columns equal: one may be a dictionary in one file and plain in another."""
    schema = pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in parts[0].schema
        ]
    )
    names = schema.names
    return pa.concat_tables(part.select(names).cast(schema) for part in parts)
