"""Reads rows of the data source without Spark: runs its tasks one after another."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import StructType

from zenlake.lake.schema import TABLES
from zenlake.lake.source.data_source import CaptureReader
from zenlake.lake.source.options import read_options


def read(
    path: str, table: str = "messages", names: list[str] | None = None, **options: str
) -> pa.Table:
    """`path` is the argument of `load`, `options` are those of the reader.

    `names` are the columns of a schema by the user.
    """
    schema = TABLES[table].spark
    if names is not None:
        schema = StructType([schema[name] for name in names])
    reader = CaptureReader(read_options({"path": path, "table": table, **options}), schema)
    found = [batch for task in reader.partitions() for batch in reader.read(task)]
    arrow = TABLES[table].arrow
    return pa.Table.from_batches(found, pa.schema([arrow.field(one) for one in schema.names]))


def rows(found: pa.Table) -> list[str]:
    """Rows in an order that does not depend on tasks, without the time of reading.

    Columns of `captures` that only a lake fills are left out.
    """
    only_in_lakes = ("read_ns", "read_at", "address", "schema_version")
    counts = ("messages", "sessions", "samples", "queries", "hops")
    dropped = [name for name in (*only_in_lakes, *counts) if name in found.column_names]
    return sorted(map(str, found.drop_columns(dropped).to_pylist()))
