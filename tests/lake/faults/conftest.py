"""Two lakes that are made once: the old one holds one capture, the new one also another."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.chance import IS_FULL
from tests.lake.faults.captures import A, B
from tests.lake.faults.rough import LAKE_NAME, RoughRun, rough_run
from zenlake.lake.pipeline import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

collect_ignore = [] if IS_FULL else ["test_kill_often.py", "test_kill_stages.py"]
"""These tests take from three minutes to half an hour."""


@dataclass(frozen=True)
class Lakes:
    """Read-only lakes: tests that write use a copy."""

    old: Path
    new: Path

    def copy(self, place: Path) -> Path:
        """Copies the old lake."""
        shutil.copytree(self.old, place, symlinks=True)
        return place


@pytest.fixture(scope="session")
def lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lakes:
    folder = tmp_path_factory.mktemp("lakes")
    made = Lakes(folder / "old", folder / "new")
    assert run([A], made.old, spark).read == [A]
    made.copy(made.new)
    outcome = run([A, B], made.new, spark)
    assert (outcome.read, outcome.unchanged, outcome.version) == ([B], [A], 2)
    return made


@pytest.fixture(scope="session")
def rough(lakes: Lakes, tmp_path_factory: pytest.TempPathFactory) -> RoughRun:
    folder = tmp_path_factory.mktemp("rough")
    return rough_run(folder, lakes.copy(folder / LAKE_NAME))
