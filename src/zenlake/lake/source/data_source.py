"""The data source: the classes that Spark's interface requires."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from zenlake.errors import LocalError, ZenlakeError
from zenlake.one_line_errors import one_line_errors

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from pyspark.sql.datasource import (
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
        Filter,
    )
    from pyspark.sql.types import StructType

    from zenlake.lake.source.options import Options

_NO_WRITER: Final = (
    'format("zenoh") reads captures and does not write: a table USING zenoh is read only'
)


class ZenohSource(DataSource):
    """`spark.read.format("zenoh")`, and tables `USING zenoh`.

    Imports are inside methods, because Spark often loads this class only to read its name.
    """

    def __init__(self, options: dict[str, str]) -> None:
        from zenlake.lake.source.catalog_table import options_of_table
        from zenlake.lake.source.live.options import (
            STREAM_ONLY,
            has_stream_options,
            read_stream_options,
        )
        from zenlake.lake.source.options import KNOWN, check_names, has_path, read_options
        from zenlake.lake.source.working_directory import check_paths

        super().__init__(options)
        self._of_table = options_of_table(options)
        self._given = dict(options) if self._of_table is None else self._of_table
        self._read: Options | None = None
        self._schema_of: Options | None = None
        with one_line_errors():
            # A query of a catalog table has no path: see `catalog_table`.
            is_network = "subscribe" in {name.lower() for name in self._given}
            if not has_path(self._given) and self._of_table is None and not is_network:
                return self._check_without_path()
            if has_stream_options(self._given):
                # Spark does not pass here whether the query is a stream.
                self._schema_of = read_stream_options(self._given).rows
                return check_paths(self._schema_of.paths, is_table=False)
            # A misspelled option may be one of a stream: the error lists those too.
            check_names(self._given, (*KNOWN, *STREAM_ONLY))
            self._read = self._schema_of = read_options(self._given)
            check_paths(self._read.paths, is_table=self._of_table is not None)

    def _check_without_path(self) -> None:
        from zenlake.lake.source.options import check_names

        check_names(self._given)

    @classmethod
    def name(cls) -> str:
        return "zenoh"

    def schema(self) -> StructType:
        from zenlake.lake.source.catalog_table import keep_options
        from zenlake.lake.source.options import read_options

        with one_line_errors():
            schema = (self._schema_of or read_options(self._given)).table.spark
            return schema if self._of_table is None else keep_options(schema, self._of_table)

    def reader(self, schema: StructType) -> DataSourceReader:
        from zenlake.lake.source.options import read_options
        from zenlake.lake.source.pushdown import is_asked_for

        with one_line_errors():
            if self._read is None and self._schema_of is not None:
                read_options(self._given)  # raises: an option is for streams only
            options = self._read or self._options_from(schema)
            return (FilteringReader if is_asked_for() else CaptureReader)(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from zenlake.lake.source.live.options import read_stream_options
        from zenlake.lake.source.live.stream_reader import LiveReader, RefusingStreamReader

        try:
            return LiveReader(read_stream_options(self._given), schema)
        except ZenlakeError as error:
            return RefusingStreamReader(error)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        with one_line_errors():
            raise LocalError(_NO_WRITER)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        with one_line_errors():
            raise LocalError(_NO_WRITER)

    def _options_from(self, schema: StructType) -> Options:
        """The options of a catalog table, and those of `SELECT ... FROM t WITH (...)`."""
        from zenlake.lake.source.catalog_table import kept_options
        from zenlake.lake.source.options import read_options

        kept = kept_options(schema)
        if not kept:
            raise LocalError(
                "no path: pass one or several to load(); Spark passes no options of a table that "
                "was created with a list of columns: create it without the list"
            )
        given = {name.lower(): value for name, value in self._given.items()}
        return read_options({**kept, **given})


class CaptureReader(DataSourceReader):
    """Plans tasks; Spark pickles it for each of them."""

    def __init__(self, options: Options, schema: StructType) -> None:
        from zenlake.lake.source.columns import Columns

        self._options = options
        self._columns = Columns(options.table, schema)
        self._filters: list[Filter] = []

    def partitions(self) -> list[InputPartition]:
        from zenlake.lake.source.planning import tasks_for

        with one_line_errors():
            tasks = tasks_for(self._options, self._is_derived())
            return [InputPartition(jobs) for jobs in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from zenlake.lake.source.columns import record_batches
        from zenlake.lake.source.conditions import chosen
        from zenlake.lake.source.pushdown import mask

        # Spark plans one task even if there is nothing to read.
        jobs = partition.value or []
        with one_line_errors():
            for rows in self._tables(jobs):
                found = self._columns.select(chosen(rows, self._options))
                for filter in self._filters:
                    found = found.filter(mask(found, filter))
                yield from record_batches(found)

    def _tables(self, jobs: Any) -> Iterator[pa.Table]:
        from zenlake.lake.source.deriving import derive_rows
        from zenlake.lake.source.streaming import read_rows

        rows_of = derive_rows if self._is_derived() else read_rows
        return rows_of(jobs, self._options.table.name, self._options.tolerance)

    def _is_derived(self) -> bool:
        from zenlake.lake.source.deriving import is_derived

        return is_derived(self._options.table.name, self._columns.names)


class FilteringReader(CaptureReader):
    """A reader to which Spark also passes filters of the query."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        from zenlake.lake.source.pushdown import is_supported

        for filter in filters:
            if is_supported(filter, self._columns.arrow):
                self._filters.append(filter)
            else:
                yield filter
