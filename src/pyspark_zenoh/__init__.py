"""Registers `format("zenoh")`: Spark 4 looks for formats in packages named `pyspark_*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.lake.source.data_source import ZenohSource
from zenlake.one_line_errors import one_line_errors

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamWriter, DataSourceWriter
    from pyspark.sql.types import StructType

__all__ = ["DefaultSource"]


class DefaultSource(ZenohSource):
    """Reads captures, and publishes rows."""

    def _check_without_path(self) -> None:
        """Nothing: these may be the options of a writer, which the writer checks."""

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        with one_line_errors():
            from zenlake.sink.writers import BatchWriter

            return BatchWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        with one_line_errors():
            from zenlake.sink.writers import StreamWriter

            return StreamWriter(self.options, schema, overwrite)
