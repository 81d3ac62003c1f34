"""Columns: the columns of a table that a query requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from zenlake.errors import LocalError
from zenlake.lake.schema.timestamps import timestamps

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from zenlake.lake.schema.table import Table

_BATCH_ROWS: Final = 16_384
"""The most rows in a record batch for Spark."""


class Columns:
    """Names of the requested columns in order, and the Arrow schema that Spark expects."""

    def __init__(self, table: Table, schema: StructType) -> None:
        by_name = {name.lower(): name for name in table.names}
        types = {column.name: column.type for column in table.columns}
        self.names: list[str] = []
        fields = []
        for field in schema.fields:
            name = by_name.get(field.name.lower())
            if name is None:
                known = ", ".join(table.names)
                raise LocalError(f"{table.name} have no column {field.name!r}; there are: {known}")
            asked = field.dataType.simpleString().upper()
            if asked != types[name]:
                raise LocalError(f"column {field.name!r} is {types[name]}, not {asked}")
            if not field.nullable:
                raise LocalError(f"column {field.name!r} may be null, it cannot be NOT NULL")
            if name in self.names:
                raise LocalError(f"column {field.name!r} occurs twice in the schema")
            self.names.append(name)
            fields.append(pa.field(field.name, table.arrow.field(name).type))
        if not fields:
            raise LocalError("the schema has no column")
        self.arrow = pa.schema(fields)
        self._computed = {
            column.name: column.computed_from
            for column in table.columns
            if column.computed_from and column.name in self.names
        }

    def select(self, rows: pa.Table) -> pa.Table:
        """Selects these columns, under the requested names."""
        for name, source in self._computed.items():
            if name not in rows.column_names:
                rows = rows.append_column(name, timestamps(rows.column(source)))
        chosen = rows.select(self.names).rename_columns(self.arrow.names)
        return chosen if chosen.schema.equals(self.arrow) else chosen.cast(self.arrow)


def record_batches(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from rows.combine_chunks().to_batches(max_chunksize=_BATCH_ROWS)
