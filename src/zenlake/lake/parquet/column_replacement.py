"""Replaces one column of a Parquet file; the others are copied as bytes, not decoded.

A Parquet file has the pages of its columns, in any order, and a footer with their offsets. So the
pages of the new column are appended, and a new footer points to them. The pages of the old column
stay in the file unused.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.errors import LocalError
from zenlake.lake.parquet.thrift import I64, Struct, read_struct, write_struct

_MAGIC: Final = b"PAR1"
_END_BYTES: Final = 8
"""The length of the footer, and the magic number."""

# Numbers of fields (parquet-format, src/main/thrift/parquet.thrift).
_ROW_GROUPS: Final = 4
_COLUMNS, _TOTAL_BYTES, _TOTAL_COMPRESSED = 1, 2, 6
_CHUNK_OFFSET, _CHUNK_METADATA = 2, 3
_PATH, _UNCOMPRESSED, _COMPRESSED = 3, 6, 7
_PAGE_OFFSETS: Final = (9, 10, 11)
"""Offsets of data, index and dictionary pages, as far as they exist."""


def with_column(source: Path, target: Path, name: str, column: pa.Array, **options: Any) -> None:
    """Writes a copy of `source` in which the column `name` has other values of the same type.

    `options` are those of `pyarrow.parquet.ParquetWriter` for this column.
    """
    metadata = pq.read_metadata(source)
    rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    if sum(rows) != len(column):
        raise LocalError(f"{source}: {sum(rows)} rows, but {len(column)} values of {name}")
    pages, footer = _one_column(name, column, rows, options)
    shutil.copyfile(source, target)
    with target.open("r+b") as file:
        whole, begin = _footer(file)
        _redirect_column(whole, footer, name, begin - len(_MAGIC))
        text = write_struct(whole)
        file.seek(begin)
        file.truncate()
        file.write(pages)
        file.write(text)
        file.write(len(text).to_bytes(4, "little") + _MAGIC)


def _one_column(
    name: str, column: pa.Array, rows: list[int], options: dict[str, Any]
) -> tuple[bytes, Struct]:
    """Pages and footer of a file that has only this column."""
    schema = pa.schema([pa.field(name, column.type)])
    sink = pa.BufferOutputStream()
    begin = 0
    with pq.ParquetWriter(sink, schema, store_schema=False, **options) as writer:
        for count in rows:
            part = pa.Table.from_arrays([column.slice(begin, count)], schema=schema)
            writer.write_table(part, row_group_size=max(1, count))
            begin += count
    data = sink.getvalue()
    with pa.BufferReader(data) as file:
        footer, end = _footer(file)
    return data.slice(len(_MAGIC), end - len(_MAGIC)).to_pybytes(), footer


def _footer(file: Any) -> tuple[Struct, int]:
    """The footer, and its offset."""
    end = file.seek(0, 2)
    file.seek(end - _END_BYTES)
    tail = file.read(_END_BYTES)
    begin = end - _END_BYTES - int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or begin < len(_MAGIC):
        raise LocalError("not a Parquet file: the magic number at its end is missing")
    file.seek(begin)
    return read_struct(file.read(end - _END_BYTES - begin)), begin


def _redirect_column(whole: Struct, one: Struct, name: str, shift: int) -> None:
    """Puts the column of `one` into each row group of `whole`; its offsets grow by `shift`."""
    groups, others = whole[_ROW_GROUPS][1], one[_ROW_GROUPS][1]
    for group, other in zip(groups, others, strict=True):
        (chunk,) = other[_COLUMNS][1]
        chunk[_CHUNK_OFFSET] = (I64, chunk[_CHUNK_OFFSET][1] and chunk[_CHUNK_OFFSET][1] + shift)
        metadata = chunk[_CHUNK_METADATA][1]
        for field in _PAGE_OFFSETS:
            if field in metadata:
                metadata[field] = (I64, metadata[field][1] + shift)
        chunks = group[_COLUMNS][1]
        place = _place_of(chunks, name)
        before = chunks[place][_CHUNK_METADATA][1]
        chunks[place] = chunk
        for total, size in ((_TOTAL_BYTES, _UNCOMPRESSED), (_TOTAL_COMPRESSED, _COMPRESSED)):
            if total in group:
                change = metadata[size][1] - before[size][1]
                group[total] = (I64, group[total][1] + change)


def _place_of(chunks: list[Any], name: str) -> int:
    path = [name.encode()]
    for place, chunk in enumerate(chunks):
        if chunk[_CHUNK_METADATA][1][_PATH][1] == path:
            return place
    raise LocalError(f"a Parquet file has no column {name}")
