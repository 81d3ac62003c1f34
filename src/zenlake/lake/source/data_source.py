"""The data source itself, in the classes that Spark asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

BATCH_ROWS: Final = 16_384
"""Rows that go to Spark at once."""


class _Brief:
    """Spark shows where an error was raised, line by line: of ours the sentence is enough."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from zenlake.errors import ZenlakeError

        if isinstance(error, ZenlakeError):
            error.__traceback__ = None


class ZenohSource(DataSource):
    """`spark.read.format("zenoh")`.

    Nothing is imported before it is needed: Spark loads this class to find out its name.
    """

    def __init__(self, options: dict[str, str]) -> None:
        from zenlake.lake.source.options import read_options

        super().__init__(options)
        with _Brief():
            self.read_options = read_options(options)

    @classmethod
    def name(cls) -> str:
        return "zenoh"

    def schema(self) -> StructType:
        return self.read_options.table.spark

    def reader(self, schema: StructType) -> DataSourceReader:
        from zenlake.lake.source.pushdown import is_asked_for

        with _Brief():
            return (FilteringReader if is_asked_for() else CaptureReader)(self.read_options, schema)


class CaptureReader(DataSourceReader):
    """Plans tasks, and is sent to each of them."""

    def __init__(self, options: Any, schema: StructType) -> None:
        from zenlake.lake.source.columns import Columns

        self._options = options
        self._columns = Columns(options.table, schema)
        self._filters: list[Filter] = []

    def partitions(self) -> list[InputPartition]:
        from zenlake.lake.source.planning import tasks_for

        with _Brief():
            tasks = tasks_for(self._options, self._is_derived())
            return [InputPartition(jobs) for jobs in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from zenlake.lake.source.conditions import chosen
        from zenlake.lake.source.pushdown import mask

        # Spark plans one task where there is nothing to read.
        jobs = partition.value or []
        with _Brief():
            for rows in self._tables(jobs):
                found = self._columns.of(chosen(rows, self._options))
                for filter in self._filters:
                    found = found.filter(mask(found, filter))
                yield from found.combine_chunks().to_batches(max_chunksize=BATCH_ROWS)

    def _tables(self, jobs: Any) -> Iterator[pa.Table]:
        from zenlake.lake.source.deriving import derive_rows
        from zenlake.lake.source.streaming import read_rows

        table = self._options.table.name
        return derive_rows(jobs, table) if self._is_derived() else read_rows(jobs, table)

    def _is_derived(self) -> bool:
        from zenlake.lake.source.deriving import is_derived

        return is_derived(self._options.table.name, self._columns.names)


class FilteringReader(CaptureReader):
    """Takes filters as well, where Spark has some to give."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        from zenlake.lake.source.pushdown import is_supported

        for filter in filters:
            if is_supported(filter, self._columns.arrow):
                self._filters.append(filter)
            else:
                yield filter
