"""SQL over a snapshot of a lake, on Spark: the same tables and functions as on DuckDB."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # its types lack it
from pyspark.sql.types import TimestampType

from zenlake.lake.errors import LakeError
from zenlake.lake.frames import frame_of, lazy_frame
from zenlake.lake.publish import Snapshot
from zenlake.lake.schema.table import arrow_types
from zenlake.lake.spark import session
from zenlake.lake.sql.function import Function
from zenlake.lake.sql.functions import FUNCTIONS, Result, check_literals, sql_error
from zenlake.lake.sql.spark_check import check_reads_only

_CODE: Final = re.compile(r"^\s*\[([A-Z0-9_.]+)\]\s*")
# Before it runs a query Spark counts columns (`pos`) from 0, while it runs (`position`) from 1.
_PLACE: Final = re.compile(r"line (\d+),? pos(ition)? (\d+)")
_END: Final = re.compile(r"\s*(SQLSTATE:|\n== SQL|\n\nJVM stacktrace)")

# Set to false: files as tables (FROM csv.`/etc/passwd`), and ${env:HOME} in statements.
_SAFE: Final = ("spark.sql.runSQLOnFiles", "spark.sql.variable.substitute")
_RAISED: Final = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Invalid): .*)", re.MULTILINE)
"""The last line of a Python traceback in one of Spark's processes."""
_CAUSED: Final = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )?(.*)", re.MULTILINE)


@contextmanager
def query(snapshot: Snapshot, sql: str, master: str) -> Iterator[Result]:
    """Runs one query; its rows can be read inside the `with`.

    A session that already runs is used and kept; otherwise one is started and stopped again.
    """
    check_literals(sql)
    was_running = SparkSession.getActiveSession() is not None
    # Errors are raised here, so Spark need not log them.
    spark = session(master, app="zenlake sql", log_level="OFF")
    before = {name: spark.conf.get(name) for name in _SAFE}
    try:
        register(spark, snapshot)
        for name in _SAFE:
            spark.conf.set(name, "false")
        sql = sql.strip().rstrip(";")
        check_reads_only(spark, sql, snapshot.manifest.tables)
        answer = spark.sql(sql)
        rows = map(tuple, answer.toLocalIterator(prefetchPartitions=True))
        times = [
            n for n, one in enumerate(answer.schema) if isinstance(one.dataType, TimestampType)
        ]
        yield Result(answer.columns, (_in_utc(row, times) for row in rows) if times else rows)
    except (PySparkException, Py4JError) as error:
        raise _query_error(str(error)) from None
    finally:
        if was_running:
            for name, value in before.items():
                spark.conf.set(name, str(value))
        else:
            spark.stop()


def register(spark: SparkSession, snapshot: Snapshot) -> None:
    """Registers the tables of a snapshot as temporary views, and our functions."""
    for table in snapshot.manifest.tables:
        try:
            frame = frame_of(spark, snapshot, table, with_undeclared=True)
        except (OSError, pa.ArrowException, PySparkException):
            # A file is missing or damaged: an error only for queries of this table.
            frame = lazy_frame(spark, snapshot, table)
        frame.createOrReplaceTempView(table)
    register_functions(spark)


def _in_utc(row: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
    """Spark returns TIMESTAMPs in the zone of this machine, without a zone."""
    cells = list(row)
    for place in places:
        if cells[place] is not None:
            cells[place] = cells[place].astimezone(UTC)
    return tuple(cells)


def register_functions(spark: SparkSession) -> None:
    """Registers `ke_intersects` and the others; workers need this package for them."""
    for name, function in FUNCTIONS.items():
        spark.udf.register(name, arrow_udf(_by_column(function), function.result_type))


def _by_column(function: Function) -> Callable[..., Any]:
    call, kind = function.call, arrow_types()[function.result_type]

    def one(a: pa.Array) -> pa.Array:
        return pa.array([call(value) for value in a.to_pylist()], kind)

    def two(a: pa.Array, b: pa.Array) -> pa.Array:
        pairs = zip(a.to_pylist(), b.to_pylist(), strict=True)
        return pa.array([call(*pair) for pair in pairs], kind)

    return one if len(function.argument_types) == 1 else two


def _query_error(text: str) -> LakeError:
    place = _PLACE.search(text)
    line = int(place[1]) if place else 0
    column = int(place[3]) + (not place[2]) if place else 0
    causes = _RAISED.findall(text) or _CAUSED.findall(text)
    cause = _CODE.sub("", causes[-1] if causes else text)
    end = _END.search(cause)
    return sql_error(cause[: end.start()] if end else cause, line, column)
