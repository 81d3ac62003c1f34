"""Splits of a capture derive their tables alone; groups that cross splits are detected.

The tasks run in this process, without Spark.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lake.comparison import counts, differences
from tests.lake.faults.captures import replicated
from zenlake.lake.fast_reader.regularity.survey import Survey
from zenlake.lake.pipeline import pipeline
from zenlake.lake.plan import splits, survey_task
from zenlake.lake.plan.splits import Assignment, by_network, by_session

SOURCES = (
    "queries.pcapng.gz",
    "routers_ring.pcapng.gz",
    "pubsub_router.pcapng",
    "liveliness.pcapng.gz",
    "multicast.pcapng.gz",
)
CUT_NAMES = "impaired.pcapng.gz"
"""Some of its keys span two segments, so that its copies share keys."""
CORES = 2
NO_SPARK: Any = None


class Tasks:
    """Replaces the tasks of Spark; records all jobs that were run."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    def run(self, spark: Any, work: Callable[[Any], Any], jobs: list[Any]) -> list[Any]:
        self.scopes += [job["scope"] for job in jobs if "scope" in job]
        return [json.loads(json.dumps(work(json.loads(json.dumps(job))))) for job in jobs]


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Tasks:
    found = Tasks()
    monkeypatch.setattr(pipeline, "run_tasks", found.run)
    monkeypatch.setattr(pipeline, "parallelism", lambda spark: CORES)
    return found


def whole(capture: str, lake: Path) -> Path:
    """The lake of a single task that reads and derives everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "run_tasks", Tasks().run)
        patch.setattr(pipeline, "parallelism", lambda spark: CORES)
        patch.setattr(survey_task, "SMALL_BYTES", 1 << 40)
        pipeline.run([capture], lake, NO_SPARK)
    return lake


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    return replicated(tmp_path_factory.mktemp("splits") / "large.pcapng", 3, *SOURCES)


@pytest.fixture(scope="module")
def expected(large: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = whole(large, tmp_path_factory.mktemp("whole") / "lake")
    empty = {name for name, count in counts(lake).items() if not count}
    assert empty <= {"ros_entities", "losses"}
    return lake


def in_splits(patch: pytest.MonkeyPatch, assign: Callable[[Survey, int], Assignment]) -> None:
    patch.setattr(survey_task, "SMALL_BYTES", 0)
    patch.setattr(survey_task, "SPLIT_BYTES", 1 << 16)
    patch.setattr(survey_task, "TASKS_PER_CORE", 1)
    patch.setattr(survey_task, "assign", assign)


@pytest.mark.parametrize(
    ("divided", "is_closed", "scopes"),
    [
        # Connected nodes are in one split: splits decide alone.
        (by_network, True, ["across", "across"]),
        # Splits are not expected to decide alone.
        (by_session, False, ["across", "captures", "captures"]),
        # They are expected to, but queries and publications cross splits.
        (by_session, True, ["across", "across", "captures", "captures"]),
    ],
    ids=["networks", "sessions", "unexpected"],
)
def test_splits_have_the_rows_of_a_single_task(
    divided: Callable[[Survey, int], Any],
    is_closed: bool,
    scopes: list[str],
    large: str,
    expected: Path,
    tasks: Tasks,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    in_splits(monkeypatch, lambda survey, most: Assignment(divided(survey, most), is_closed))
    monkeypatch.setattr(survey_task, "save_splits", _with_splits)
    outcome = pipeline.run([large], tmp_path / "lake", NO_SPARK)
    assert tasks.scopes == scopes
    assert outcome.messages == counts(expected)["messages"]
    assert differences(expected, tmp_path / "lake") == {}


def test_equal_publications_in_two_splits_are_detected(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    capture = replicated(tmp_path / "x.pcapng", 3, CUT_NAMES)
    expected = whole(capture, tmp_path / "whole")
    in_splits(monkeypatch, lambda survey, most: Assignment(by_network(survey, most), True))
    pipeline.run([capture], tmp_path / "lake", NO_SPARK)
    assert tasks.scopes == ["across", "across", "captures"]
    assert differences(expected, tmp_path / "lake") == {}


def _with_splits(survey: Survey, of_pair: Any, most: int, place: Path) -> None:
    assert len(set(of_pair.tolist())) > 1
    splits.save_splits(survey, of_pair, most, place)
