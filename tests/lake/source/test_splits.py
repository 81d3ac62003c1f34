"""Large captures are read by several tasks, with the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.types import StructType

from tests.lake.faults.captures import replicated
from tests.lake.source.reading import read, rows
from tests.paths import CAPTURES
from zenlake.lake.plan import survey_task
from zenlake.lake.schema import TABLES
from zenlake.lake.source import planning
from zenlake.lake.source.data_source import ZenohSource
from zenlake.lake.source.options import read_options

SOURCES = (
    "queries.pcapng.gz",
    "routers_ring.pcapng.gz",
    "pubsub_router.pcapng",
    "liveliness.pcapng.gz",
)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("source") / "large.pcapng"
    return replicated(path, 2, *SOURCES)


@pytest.fixture
def in_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_task, "SMALL_BYTES", 0)
    monkeypatch.setattr(survey_task, "SPLIT_BYTES", 1 << 16)


@pytest.mark.parametrize("table", TABLES)
def test_several_tasks_return_the_rows_of_one(
    table: str, large: str, request: pytest.FixtureRequest
) -> None:
    """Compares one task on the exact reader with several on the fast reader."""
    whole = rows(read(large, table))
    request.getfixturevalue("in_splits")
    assert rows(read(large, table, partitions="3")) == whole
    assert whole or table in ("losses", "ros_entities", "violations")


@pytest.mark.usefixtures("in_splits")
@pytest.mark.parametrize(
    ("table", "columns", "tasks"),
    [
        ("messages", None, 3),
        ("declarations", None, 3),
        ("queries", None, 1),
        ("captures", None, 1),
        ("samples", None, 1),
        ("samples", ["key", "trace_id"], 1),
        ("samples", ["key", "payload"], 3),
    ],
)
def test_tables_are_read_in_splits_if_possible(
    table: str, columns: list[str] | None, tasks: int, large: str
) -> None:
    source = ZenohSource({"path": large, "table": table, "partitions": "3"})
    whole = source.schema()
    schema = whole if columns is None else StructType([whole[name] for name in columns])
    assert len(source.reader(schema).partitions()) == tasks


@pytest.mark.usefixtures("in_splits")
def test_samples_without_traces_are_read_in_splits(large: str) -> None:
    names = [name for name in TABLES["samples"].names if name != "trace_id"]
    expected = read(large, "samples").select(names)
    found = read(large, "samples", names, partitions="3")
    assert rows(found) == rows(expected)


def test_small_captures_share_tasks(tmp_path: Path) -> None:
    source = CAPTURES / "liveliness.pcapng.gz"
    for number in range(10):
        (tmp_path / f"{number}.pcapng.gz").symlink_to(source)
    tasks = planning.tasks_for(read_options({"path": str(tmp_path), "partitions": "4"}), False)
    assert sorted(len(task) for task in tasks) == [2, 2, 3, 3]
    assert len({job["capture"] for task in tasks for job in task}) == 10
    assert read(str(tmp_path), partitions="4").num_rows == 10 * read(str(source)).num_rows
