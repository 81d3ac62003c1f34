"""SQL over a snapshot of a lake, on Spark: the same tables and functions as on DuckDB."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it ships no types
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import arrow_udf, expr  # type: ignore[attr-defined]  # types lack one
from pyspark.sql.types import TimestampType

from zenlake.lake.function import Function
from zenlake.lake.schema import TABLES
from zenlake.lake.spark import literal, session
from zenlake.lake.sql_functions import FUNCTIONS, READ_ONLY, Result, check_literals, sql_error
from zenlake.lake.store import LakeError, Snapshot

_CODE: Final = re.compile(r"^\s*\[([A-Z0-9_.]+)\]\s*")
# Before it runs a query Spark counts columns (`pos`) from 0, while it runs (`position`) from 1.
_PLACE: Final = re.compile(r"line (\d+),? pos(ition)? (\d+)")
_END: Final = re.compile(r"\s*(SQLSTATE:|\n== SQL|\n\nJVM stacktrace)")
# The types that tables have; of others Spark finds out by itself, which takes it a job.
_TYPES: Final = {
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", tz="UTC"): "TIMESTAMP",
    **dict.fromkeys((pa.binary(), pa.large_binary(), pa.binary_view()), "BINARY"),
    **dict.fromkeys((pa.string(), pa.large_string(), pa.string_view()), "STRING"),
}
_ARROW: Final = {"BIGINT": pa.int64(), "BOOLEAN": pa.bool_(), "STRING": pa.string()}
"""Of the types that functions give."""
_FILES: Final = "spark.sql.runSQLOnFiles"
_TOLD: Final = re.compile(r"\s*(?:explain|desc|describe|show)\b", re.IGNORECASE)
_CAUSED: Final = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )?(.*)", re.MULTILINE)


@contextmanager
def query(snapshot: Snapshot, sql: str, master: str) -> Iterator[Result]:
    """Runs one query; the rows may be read inside the `with`.

    A session that already runs is used and goes on; else there is one for as long as this takes.
    """
    check_literals(sql)
    was_running = SparkSession.getActiveSession() is not None
    # What goes wrong is raised here; Spark need not say it as well.
    spark = session(master, app="zenlake sql", log_level="OFF")
    files_before = spark.conf.get(_FILES)
    try:
        register(spark, snapshot)
        # Other files are no tables: FROM csv.`/etc/passwd` would read one.
        spark.conf.set(_FILES, "false")
        sql = sql.strip().rstrip(";")
        _check_reads_only(spark, sql)
        answer = spark.sql(sql)
        rows = map(tuple, answer.toLocalIterator(prefetchPartitions=True))
        times = [
            n for n, one in enumerate(answer.schema) if isinstance(one.dataType, TimestampType)
        ]
        yield Result(answer.columns, (_in_utc(row, times) for row in rows) if times else rows)
    except (PySparkException, Py4JError) as error:
        raise _explained(str(error)) from None
    finally:
        if was_running:
            spark.conf.set(_FILES, str(files_before))
        else:
            spark.stop()


def register(spark: SparkSession, snapshot: Snapshot) -> None:
    """The tables of a snapshot as temporary views, and the functions beyond Spark's own."""
    for table, folder in snapshot.tables.items():
        reader = spark.read.option("mergeSchema", "true")
        columns = _columns(table, snapshot.files(table))
        if columns is not None:
            reader = reader.schema(columns)
        frame = reader.parquet(literal(str(folder)))
        if snapshot.manifest.has_older_rows:
            frame = with_computed(frame, table)
        frame.createOrReplaceTempView(table)
    register_functions(spark)


def with_computed(frame: DataFrame, table: str) -> DataFrame:
    """TIMESTAMPs also of rows that are older than these columns."""
    for one in TABLES[table].columns if table in TABLES else ():
        if one.computed_from and {one.name, one.computed_from} <= set(frame.columns):
            value = expr(f"timestamp_micros({one.computed_from} div 1000)")
            frame = frame.withColumn(one.name, value.alias("", metadata={"comment": one.comment}))
    return frame


def _in_utc(row: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
    """Spark gives TIMESTAMPs in the zone of this machine, and does not say so."""
    cells = list(row)
    for place in places:
        if cells[place] is not None:
            cells[place] = cells[place].astimezone(UTC)
    return tuple(cells)


def register_functions(spark: SparkSession) -> None:
    """`ke_intersects` and its like; workers need this package for them."""
    for name, function in FUNCTIONS.items():
        spark.udf.register(name, arrow_udf(_by_column(function), function.gives))


def _columns(table: str, files: list[Path]) -> str | None:
    """The columns of all files, united by name; None where Spark must look itself.

    A declared column that all files are older than is null.
    """
    schema = pa.unify_schemas([pq.read_schema(file).remove_metadata() for file in files])
    declared = TABLES[table].columns if table in TABLES else ()
    comments = {one.name: _comment(one.comment) for one in declared}
    columns = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if kind not in _TYPES:
            return None
        columns.append(f"`{field.name}` {_TYPES[kind]}{comments.get(field.name, '')}")
    columns += [
        f"`{one.name}` {one.type}{comments[one.name]}"
        for one in declared
        if one.name not in schema.names
    ]
    return ", ".join(columns)


def _comment(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f" COMMENT '{escaped}'"


def _by_column(function: Function) -> Callable[..., Any]:
    call, kind = function.call, _ARROW[function.gives]

    def one(a: pa.Array) -> pa.Array:
        return pa.array([call(value) for value in a.to_pylist()], kind)

    def two(a: pa.Array, b: pa.Array) -> pa.Array:
        pairs = zip(a.to_pylist(), b.to_pylist(), strict=True)
        return pa.array([call(*pair) for pair in pairs], kind)

    return one if len(function.takes) == 1 else two


def _check_reads_only(spark: SparkSession, sql: str) -> None:
    """Only a query can stand in brackets; EXPLAIN reads it without running anything."""
    if _TOLD.match(sql):
        return
    try:
        spark.sql(f"EXPLAIN SELECT * FROM (\n{sql}\n)")
    except ParseException:
        try:
            spark.sql(f"EXPLAIN\n{sql}")
        except ParseException as error:
            raise _explained(str(error), lines_before=1) from None
        raise LakeError(READ_ONLY, "SQL") from None
    except AnalysisException:
        pass  # it will be said again, with the right place


def _explained(text: str, lines_before: int = 0) -> LakeError:
    place = _PLACE.search(text)
    line = int(place[1]) - lines_before if place else 0
    column = int(place[3]) + (not place[2]) if place else 0
    causes = _CAUSED.findall(text)
    cause = _CODE.sub("", causes[-1] if causes else text)
    end = _END.search(cause)
    return sql_error(cause[: end.start()] if end else cause, line, column)
