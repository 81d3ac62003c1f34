"""The tables of a lake as Spark DataFrames, without the Delta jar.

delta-rs lists the files of a version; Spark reads them as Parquet. Workers read files in stores
through Arrow, because Spark needs another jar for them (`s3a://`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zenlake.lake.address import parse
from zenlake.lake.path_safety import check_files, check_table_name
from zenlake.lake.publish.snapshot import Snapshot
from zenlake.lake.publish.store import Store
from zenlake.lake.schema import TABLES
from zenlake.lake.spark import literal, session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_ROWS_AT_ONCE: Final = 16_384


class Lake:
    """`lake.queries`, `lake.samples`, ... of the version that was current at opening."""

    def __init__(
        self, directory: str | os.PathLike[str], spark: SparkSession | None = None
    ) -> None:
        self._snapshot = Store(directory).snapshot()
        self.spark = spark or session()

    @property
    def version(self) -> int:
        return self._snapshot.version

    @property
    def tables(self) -> list[str]:
        return [*self._snapshot.manifest.tables]

    def table(self, name: str) -> DataFrame:
        """A table by name. Columns that older files lack are null in their rows."""
        return frame_of(self.spark, self._snapshot, name)

    def __getattr__(self, name: str) -> DataFrame:
        if name.startswith("_") or name not in self._snapshot.manifest.tables:
            raise AttributeError(f"no table {name!r}, there are: {', '.join(self.tables)}")
        return self.table(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def sql(self, text: str) -> DataFrame:
        """Runs a query of the tables, which may use `ke_intersects` and `ke_includes`."""
        from zenlake.lake.sql.on_spark import register

        register(self.spark, self._snapshot)
        return self.spark.sql(text)


def frame_of(
    spark: SparkSession, snapshot: Snapshot, name: str, with_undeclared: bool = False
) -> DataFrame:
    """A table of a snapshot. TIMESTAMPs are computed for rows that were written without them.

    With `with_undeclared` it has columns that other writers added to its files.
    """
    check_table_name(name, snapshot.directory)
    if snapshot.is_local:
        check_files(snapshot.directory, snapshot.files(name))
        files = [f"file:{literal(one.path)}" for one in snapshot.addresses(name)]
        reader = spark.read.option("mergeSchema", "true")
        columns = all_columns(name, snapshot.files(name)) if with_undeclared else None
        if columns is not None:
            reader = reader.schema(columns)
        elif name in TABLES:
            reader = reader.schema(TABLES[name].spark)
        frame = reader.parquet(*files)
    else:
        frame = lazy_frame(spark, snapshot, name)
    return with_computed(frame, name) if snapshot.manifest.has_older_rows else frame


def with_computed(frame: DataFrame, table: str) -> DataFrame:
    """Computes TIMESTAMPs also for rows that were written before these columns existed."""
    from pyspark.sql.functions import expr

    for one in TABLES[table].columns if table in TABLES else ():
        if one.computed_from and {one.name, one.computed_from} <= set(frame.columns):
            value = expr(f"timestamp_micros({one.computed_from} div 1000)")
            frame = frame.withColumn(one.name, value.alias("", metadata={"comment": one.comment}))
    return frame


def all_columns(name: str, files: Sequence[Path]) -> str | None:
    """The schema of all files, united by name, and the declared columns that they lack.

    None if a column has a type that only Spark's own inference handles.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        pa.int64(): "BIGINT",
        pa.float64(): "DOUBLE",
        pa.bool_(): "BOOLEAN",
        pa.timestamp("us", tz="UTC"): "TIMESTAMP",
        **dict.fromkeys((pa.binary(), pa.large_binary(), pa.binary_view()), "BINARY"),
        **dict.fromkeys((pa.string(), pa.large_string(), pa.string_view()), "STRING"),
    }
    schema = pa.unify_schemas([pq.read_schema(file).remove_metadata() for file in files])
    declared = TABLES[name].columns if name in TABLES else ()
    comments = {one.name: _comment(one.comment) for one in declared}
    columns = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if kind not in types:
            return None
        # Names in files of other writers may contain anything.
        quoted = field.name.replace("`", "``")
        columns.append(f"`{quoted}` {types[kind]}{comments.get(field.name, '')}")
    lacking = [one for one in declared if one.name not in schema.names]
    columns += [f"`{one.name}` {one.type}{comments[one.name]}" for one in lacking]
    return ", ".join(columns)


def _comment(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f" COMMENT '{escaped}'"


def lazy_frame(spark: SparkSession, snapshot: Snapshot, name: str) -> DataFrame:
    """A table that workers read through Arrow; no file is opened before."""
    addresses = [str(one) for one in snapshot.addresses(name)]

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _rows_of(addresses[number], name)

    numbers = spark.range(0, len(addresses), 1, max(1, len(addresses)))
    return numbers.mapInArrow(read, TABLES[name].spark)


def _rows_of(address: str, name: str) -> Iterator[pa.RecordBatch]:
    """The rows of a file with all declared columns; those that it lacks are null."""
    import pyarrow.dataset as ds

    place = parse(address)
    schema = TABLES[name].arrow.remove_metadata()
    file = ds.dataset(place.fs_path, schema, format="parquet", filesystem=place.filesystem)
    yield from file.to_batches(batch_size=_ROWS_AT_ONCE)
