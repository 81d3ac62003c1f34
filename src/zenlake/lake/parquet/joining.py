"""Joins small Parquet files of one table to a larger one; rows do not change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa

from zenlake.lake.errors import LakeError
from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.parquet.row_removal import batches_of, with_all_columns
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table

_GROUP_ROWS: Final = 65_536


def joined_files(
    paths: Iterable[Path], name: str, folder: Path, kinds: Mapping[str, Table] = TABLES
) -> WrittenFile:
    """A file in `folder` with the rows of all files, in their order."""
    files = ParquetFiles(folder, kinds)
    held: list[pa.Table] = []
    rows = 0
    try:
        for path in paths:
            for batch in batches_of(path):
                held.append(with_all_columns(pa.Table.from_batches([batch]), name, kinds))
                rows += batch.num_rows
                if rows >= _GROUP_ROWS:
                    files.write({name: [_unify_types(held)]})
                    held, rows = [], 0
        if held:
            files.write({name: [_unify_types(held)]})
    except (OSError, pa.ArrowInvalid) as error:
        files.abandon()
        raise LakeError(f"cannot be joined: {' '.join(str(error).split())}", folder) from None
    except BaseException:
        files.abandon()
        raise
    [written] = files.close()
    return written


def _unify_types(parts: list[pa.Table]) -> pa.Table:
    """Make the types of a column equal: it may be a dictionary in one file and plain in another."""
    schema = pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in parts[0].schema
        ]
    )
    names = schema.names
    return pa.concat_tables(part.select(names).cast(schema) for part in parts)
