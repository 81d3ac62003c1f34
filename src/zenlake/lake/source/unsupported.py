"""Unsupported: errors for parts of Spark's interface that this source does not implement."""

from __future__ import annotations

from typing import Final, NoReturn

from pyspark.sql.datasource import DataSourceStreamReader

from zenlake.errors import LocalError
from zenlake.one_line_errors import one_line_errors

NO_STREAM: Final = (
    'spark.readStream.format("zenoh") comes with the live lake; until then '
    'spark.read.format("zenoh") reads captures'
)
NO_WRITER: Final = (
    'format("zenoh") reads captures and does not write: a table USING zenoh is read only'
)


class RefusedStreamReader(DataSourceStreamReader):
    """Fails at the first call: Spark 4.3 hides errors of the constructor."""

    def _refuse(self) -> NoReturn:
        with one_line_errors():
            raise LocalError(NO_STREAM)

    def initialOffset(self) -> NoReturn:
        self._refuse()

    def latestOffset(self, *_: object) -> NoReturn:
        self._refuse()

    def partitions(self, start: object, end: object) -> NoReturn:
        self._refuse()

    def read(self, partition: object) -> NoReturn:
        self._refuse()


def writing_refused() -> LocalError:
    return LocalError(NO_WRITER)
