"""The tables of a lake as Spark DataFrames."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from zenlake.lake.schema import TABLES
from zenlake.lake.spark import literal, session
from zenlake.lake.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Lake:
    """`lake.queries`, `lake.samples`, ... of the version that was current when it was opened."""

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
        """A column that older files lack is null in their rows."""
        files = [literal(str(path)) for path in self._snapshot.files(name)]
        reader = self.spark.read
        if name in TABLES:
            reader = reader.schema(TABLES[name].spark)
        frame = reader.parquet(*files)
        if self._snapshot.manifest.has_older_rows:
            from zenlake.lake.sql_spark import with_computed

            frame = with_computed(frame, name)
        return frame

    def __getattr__(self, name: str) -> DataFrame:
        if name.startswith("_") or name not in self._snapshot.manifest.tables:
            raise AttributeError(f"no table {name!r}, there are: {', '.join(self.tables)}")
        return self.table(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def sql(self, text: str) -> DataFrame:
        """A question to the tables, by their names, with `ke_intersects` and `ke_includes`."""
        from zenlake.lake.sql_spark import register

        register(self.spark, self._snapshot)
        return self.spark.sql(text)
