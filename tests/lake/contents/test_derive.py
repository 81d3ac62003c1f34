"""Tables are put together by Spark or by DuckDB, from the same statements: the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.chance import IS_FULL
from tests.lake.source.reading import rows
from tests.lake.tables.all_cases import all_cases
from tests.lake.tables.cases import arrow
from tests.trace.sidecar import PATHS
from zenlake.lake.pipeline import derive
from zenlake.lake.pipeline.derive_task import derive_captures
from zenlake.lake.reading.row_tables import WRITTEN
from zenlake.lake.reading.scalar import stage
from zenlake.lake.schema import TABLES
from zenlake.lake.tables import build_all

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.xdist_group("spark")

CHOSEN = ("liveliness", "mixed_versions", "peers_gossip", "queries", "ros2", "routers_ring")
NAMES = [*PATHS] if IS_FULL else CHOSEN
PUT_TOGETHER = [name for name in TABLES if name not in WRITTEN and name != "captures"]
"""Beside `samples`, of which some are read and some are written again."""
PLACE = ["capture", "session", "seq", "trace_id"]
PARTS = 3
"""Of each staged table, so that Spark finds rows of a session in several places."""
Files = dict[str, dict[str, list[Path]]]
"""By capture and table."""


@dataclass
class Input:
    """Real captures, and the cases of `tests/lake/tables`."""

    tasks: list[dict[str, list[str]]]
    captures: list[str]
    captures_file: Path


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Input:
    folder = tmp_path_factory.mktemp("staged")
    cases = all_cases()
    ends = {row["capture"]: row["last_ns"] for row in cases.pop("captures")}
    staged = {name: [arrow(name, found)] for name, found in cases.items()}
    for name in NAMES:
        for table, found in stage(str(PATHS[name]), name).items():
            staged.setdefault(table, []).append(found)
    for table, parts in staged.items():
        for part in parts:
            for capture in part["capture"].unique().to_pylist():
                ends.setdefault(capture, 1 << 62)
            assert part.schema == WRITTEN[table].base.arrow
    tasks = [dict[str, list[str]]() for _ in range(PARTS)]
    for table, parts in staged.items():
        whole = pa.concat_tables(parts)
        for number, task in enumerate(tasks):
            path = str(folder / f"{table}-{number}.parquet")
            pq.write_table(whole.take(list(range(number, len(whole), PARTS))), path)
            task[table] = [path]
    captures = [{"capture": name, "last_ns": last} for name, last in ends.items()]
    captures_file = folder / "captures.parquet"
    pq.write_table(pa.Table.from_pylist(captures, TABLES["captures"].arrow), captures_file)
    return Input(tasks, [*ends], captures_file)


@pytest.fixture(scope="module")
def by_duckdb(given: Input, tmp_path_factory: pytest.TempPathFactory) -> Files:
    together: dict[str, list[str]] = {}
    for task in given.tasks:
        for table, paths in task.items():
            together.setdefault(table, []).extend(paths)
    job: dict[str, Any] = {
        "tasks": [together],
        "captures": given.captures,
        "captures_file": str(given.captures_file),
        "folder": str(tmp_path_factory.mktemp("by_duckdb") / "tables"),
        "threads": 1,
    }
    found: Files = {}
    for capture, table, path in derive_captures(job)["files"]:
        found.setdefault(capture, {}).setdefault(table, []).append(Path(path))
    return found


@dataclass
class BySpark:
    files: Files
    shapes: dict[str, list[tuple[str, str, str]]]


@pytest.fixture(scope="module")
def by_spark(
    spark: SparkSession, given: Input, tmp_path_factory: pytest.TempPathFactory
) -> BySpark:
    """What is too much for a task; in small batches, over which groups of rows go on."""
    shapes: dict[str, list[tuple[str, str, str]]] = {}
    original = build_all

    def noted(tables: Any, keep: Callable[[str, DataFrame], DataFrame]) -> dict[str, DataFrame]:
        def noting(name: str, frame: DataFrame) -> DataFrame:
            """What is kept is read back from files, in which captures are folders."""
            if name in TABLES:
                shapes[name] = shape(frame.schema.fields)
            return keep(name, frame)

        frames = original(tables, noting)
        for name, frame in frames.items():
            if name not in shapes:
                shapes[name] = shape(frame.schema.fields)
        return frames

    folder = tmp_path_factory.mktemp("by_spark")
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(name))
    spark.conf.set(name, "100")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derive, "DERIVE_STAGED_BYTES_MAX", 0)
        patch.setattr(derive, "build_all", noted)
        files = derive.derive(spark, given.tasks, given.captures, given.captures_file, folder)
    spark.conf.set(name, before)
    return BySpark(files, shapes)


def shape(fields: list[Any]) -> list[tuple[str, str, str]]:
    """Names, types and comments, in order."""
    return [(one.name, one.dataType.typeName(), one.metadata["comment"]) for one in fields]


def rows_of(files: Files, table: str) -> list[str]:
    schema = TABLES[table].arrow
    paths = [path for tables in files.values() for path in tables.get(table, ())]
    return rows(pa.concat_tables(pq.ParquetFile(path).read().cast(schema) for path in paths))


@pytest.mark.parametrize("table", [*PUT_TOGETHER, "samples"])
def test_the_same_rows(table: str, by_duckdb: Files, by_spark: BySpark) -> None:
    found = rows_of(by_spark.files, table)
    assert found == rows_of(by_duckdb, table)
    assert len(found) > 20


@pytest.mark.parametrize("table", PUT_TOGETHER)
def test_frames_of_spark_have_the_declared_columns(table: str, by_spark: BySpark) -> None:
    assert by_spark.shapes[table] == shape(TABLES[table].base.spark.fields)


def test_samples_have_the_traces_of_latencies(lake: Path) -> None:
    """Also where a capture has none, and its files are those that were read."""
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
