"""Spark and DuckDB derive the same rows from the same statements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.chance import IS_FULL
from tests.lake.derive.steps.all_cases import all_cases
from tests.lake.derive.steps.cases import arrow, build_all
from tests.lake.source.reading import rows
from tests.lake.staging import write_captures
from tests.trace.sidecar import PATHS
from zenlake.lake.derive.derive_task import derive_captures
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.written import WRITTEN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHOSEN = ("liveliness", "mixed_versions", "peers_gossip", "queries", "ros2", "routers_ring")
NAMES = [*PATHS] if IS_FULL else CHOSEN
_NOT_BY_SQL = ("captures", "latencies")
PUT_TOGETHER = [name for name in TABLES if name not in WRITTEN and name not in _NOT_BY_SQL]
"""Tables that statements derive. `latencies` is not: tests/lake/derive/publications."""
PLACE = ["capture", "session", "seq", "trace_id"]
PARTS = 3
"""The number of parts of each staged table: rows of a session are in several parts."""
Files = dict[str, list[pa.Table]]
"""Parts of tables, by table."""


@dataclass
class Input:
    """Real captures, and the cases of `tests/lake/derive/steps`."""

    tasks: list[dict[str, list[str]]]
    captures_file: str


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Input:
    folder = tmp_path_factory.mktemp("staged")
    cases = all_cases()
    ends = {row["capture"]: row["last_ns"] for row in cases.pop("captures")}
    tables = {name: [arrow(name, found)] for name, found in cases.items()}
    for name in NAMES:
        for table, found in stage(PATHS[name], name).items():
            tables.setdefault(table, []).append(found)
    for table, parts in tables.items():
        for part in parts:
            for capture in part["capture"].unique().to_pylist():
                ends.setdefault(capture, 1 << 62)
            assert part.schema == WRITTEN[table].base.arrow
    tasks = [dict[str, list[str]]() for _ in range(PARTS)]
    for table, parts in tables.items():
        whole = pa.concat_tables(parts)
        for number, task in enumerate(tasks):
            path = str(folder / f"{table}-{number}.parquet")
            pq.write_table(whole.take(list(range(number, len(whole), PARTS))), path)
            task[table] = [path]
    return Input(tasks, write_captures(folder, ends))


@pytest.fixture(scope="module")
def by_duckdb(staged: Input, tmp_path_factory: pytest.TempPathFactory) -> Files:
    together: dict[str, list[str]] = {}
    for task in staged.tasks:
        for table, paths in task.items():
            together.setdefault(table, []).extend(paths)
    job: dict[str, Any] = {
        "tasks": [together],
        "captures_file": staged.captures_file,
        "folder": str(tmp_path_factory.mktemp("by_duckdb") / "tables"),
        "threads": 1,
        "tables": PUT_TOGETHER,
    }
    result = derive_captures(job)
    found: Files = {}
    for file in result["files"]:
        found.setdefault(file["table"], []).append(pq.read_table(file["path"]))
    return found


@dataclass
class BySpark:
    tables: Files
    shapes: dict[str, list[tuple[str, str, str]]]


@pytest.fixture(scope="module")
def by_spark(
    spark: SparkSession, staged: Input, tmp_path_factory: pytest.TempPathFactory
) -> BySpark:
    """Derives with small batches, so that groups of rows span several of them."""
    folder = tmp_path_factory.mktemp("by_spark")

    def keep(name: str, frame: DataFrame) -> DataFrame:
        """Writes a frame and reads it again: Spark needs minutes for a plan of all steps."""
        place = str(folder / name)
        frame.write.parquet(place)
        return spark.read.schema(frame.schema).parquet(place)

    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(name))
    spark.conf.set(name, "100")
    frames: dict[str, DataFrame] = {}
    for table, declared in {**WRITTEN, "captures": TABLES["captures"]}.items():
        files = [path for task in staged.tasks for path in task.get(table, ())]
        files = [staged.captures_file] if table == "captures" else files
        reader = spark.read.schema(declared.base.spark)
        frames[table] = reader.parquet(*files) if files else spark.createDataFrame([], "x INT")
    made = build_all(frames, keep)
    shapes = {table: shape(frame.schema.fields) for table, frame in made.items()}
    tables = {table: [frame.toArrow()] for table, frame in made.items()}
    spark.conf.set(name, before)
    return BySpark(tables, shapes)


def shape(fields: list[Any]) -> list[tuple[str, str, str]]:
    """Names, types and comments, in order."""
    return [(one.name, one.dataType.typeName(), one.metadata["comment"]) for one in fields]


def rows_of(tables: Files, table: str) -> list[str]:
    """Rows as text, without the columns that are computed when rows are written."""
    names = TABLES[table].base.names
    schema = TABLES[table].base.arrow.remove_metadata()
    parts = [part.select(names).cast(schema) for part in tables.get(table, ())]
    return rows(pa.concat_tables(parts))


@pytest.mark.parametrize("table", PUT_TOGETHER)
def test_spark_and_duckdb_derive_the_same_rows(
    table: str, by_duckdb: Files, by_spark: BySpark
) -> None:
    found = rows_of(by_spark.tables, table)
    assert found == rows_of(by_duckdb, table)
    assert len(found) > 20


@pytest.mark.parametrize("table", PUT_TOGETHER)
def test_frames_of_spark_have_the_declared_columns(table: str, by_spark: BySpark) -> None:
    assert by_spark.shapes[table] == shape(TABLES[table].base.spark.fields)


def test_samples_have_the_traces_of_latencies(lake: Path) -> None:
    """A capture without latencies keeps the files that were read."""
    latencies = pq.read_table(lake / "latencies", columns=PLACE).to_pylist()
    samples = pq.read_table(lake / "samples", columns=[*PLACE, "key", "ignored"]).to_pylist()
    known = {_place(row): row["trace_id"] for row in latencies}
    for row in samples:
        own = row["seq"] if row["key"] is not None and row["ignored"] is None else None
        assert row["trace_id"] == known.get(_place(row), own)
    assert {row["capture"] for row in samples} > {row["capture"] for row in latencies}
    assert len([row for row in latencies if row["trace_id"] not in (None, row["seq"])]) > 100


def _place(row: dict[str, object]) -> tuple[object, ...]:
    return row["capture"], row["session"], row["seq"]
