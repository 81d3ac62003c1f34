"""Parquet files that one task writes: one for each table, under unique names.

Only files that a task returns are published, so files of a task that is retried, or runs twice, are
never read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.parquet.statistics import TextBounds, statistics
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import STRING, Table
from zenlake.lake.schema.timestamps import timestamps
from zenlake.lake.schema.written import WRITTEN

_EACH_DIFFERENT: Final = frozenset(
    ("timestamp", "timestamp_order", "parameters", "identity", "key_identity", "source", "cause")
)
"""Texts that rarely repeat; other texts are dictionary-encoded."""
_FEW_NUMBERS: Final = ("priority", "size")
"""Numbers that repeat, which are dictionary-encoded too."""
_ASCENDING: Final = ("packet", "time_ns", "time", "seq", "trace_id", "sent_ns", "sent_at")
"""Numbers that are delta-encoded, which leaves less to compress."""
_ROWS_IN_A_PAGE_MAX: Final = 1 << 30
"""No limit: a page ends by its bytes."""
_COMPRESSION: Final[dict[str, Any]] = {"compression": "zstd", "compression_level": 1}


def column_options(name: str) -> dict[str, Any]:
    """The writer's options for a column of numbers in a file of its own."""
    is_ascending = name in _ASCENDING
    return {
        **_COMPRESSION,
        "use_dictionary": name in _FEW_NUMBERS,
        "column_encoding": {name: "DELTA_BINARY_PACKED"} if is_ascending else None,
    }


class WrittenFile(NamedTuple):
    table: str
    path: str
    rows: int
    size: int
    stats: str
    """Statistics in the format of a Delta log."""


class ParquetFiles:
    """`write` appends tables to their files; `close` returns the written files.

    An error in its `with` block deletes the files.
    """

    def __init__(self, folder: Path, kinds: Mapping[str, Table] = WRITTEN) -> None:
        self._folder = folder
        self._kinds = kinds
        self._name = uuid4().hex
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._bounds: dict[str, TextBounds] = {}

    def __enter__(self) -> ParquetFiles:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self.abandon()

    def write(self, tables: Mapping[str, Iterable[pa.Table]]) -> None:
        for name, parts in tables.items():
            for part in parts:
                table = self._kinds[name]
                schema = file_schema(table)
                writer = self._writers.get(name)
                if writer is None:
                    writer = self._writers[name] = self._open(name, schema)
                rows = _encoded(part, table, schema)
                writer.write_table(rows, row_group_size=max(1, part.num_rows))
                self._bounds[name].add(rows)

    def _open(self, name: str, schema: pa.Schema) -> pq.ParquetWriter:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        numbers = [
            field.name
            for field in schema
            if pa.types.is_integer(field.type) or pa.types.is_timestamp(field.type)
        ]
        listed = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        listed += [column for column in numbers if column in _FEW_NUMBERS]
        ascending = [column for column in numbers if column in _ASCENDING]
        # Staged tables are read once and removed, so writing fast matters more than size.
        codec = _COMPRESSION if name in TABLES else {"compression": "lz4"}
        writer = pq.ParquetWriter(
            path,
            schema,
            **codec,
            use_dictionary=listed,
            column_encoding=dict.fromkeys(ascending, "DELTA_BINARY_PACKED"),
            store_schema=False,
            # A page has 1 MiB. More pages would cost time, and no reader skips single pages.
            max_rows_per_page=_ROWS_IN_A_PAGE_MAX,
            # Statistics of texts take a third of the time, and differ little between row groups.
            write_statistics=numbers,
        )
        writer.add_key_value_metadata(schema.metadata)
        self._bounds[name] = TextBounds()
        return writer

    def _path(self, name: str) -> Path:
        return self._folder / name / f"{self._name}.parquet"

    def close(self) -> list[WrittenFile]:
        found = []
        for name, writer in self._writers.items():
            writer.close()
            path = self._path(name)
            metadata = pq.read_metadata(path)
            stats = statistics(metadata, self._bounds[name])
            found.append(
                WrittenFile(name, str(path), metadata.num_rows, path.stat().st_size, stats)
            )
        return found

    def abandon(self) -> None:
        """Deletes the files."""
        for name, writer in self._writers.items():
            try:
                writer.close()
            finally:
                os.unlink(self._path(name))


def file_schema(table: Table) -> pa.Schema:
    listed = pa.dictionary(pa.int32(), pa.string())
    fields = [
        field.with_type(listed)
        if column.type == STRING and column.name not in _EACH_DIFFERENT
        else field
        for column, field in zip(table.columns, table.arrow, strict=True)
    ]
    return pa.schema(fields, metadata=table.arrow.metadata)


def _encoded(part: pa.Table, table: Table, schema: pa.Schema) -> pa.Table:
    """The table in the types of the file, with the columns that are computed from others."""
    columns = []
    for declared, field in zip(table.columns, schema, strict=True):
        if declared.computed_from:
            columns.append(timestamps(part.column(declared.computed_from)))
            continue
        column = part.column(field.name)
        if column.type != field.type:
            if pa.types.is_dictionary(field.type):
                column = column.dictionary_encode()
            column = column.cast(field.type)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)
