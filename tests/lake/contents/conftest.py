"""One lake of all bundled captures for all tests of a process, which are in the group `spark`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lake.contents.tables import Tables
from tests.paths import CAPTURES
from tests.trace.sidecar import PATHS
from zenlake.lake.pipeline.pipeline import run
from zenlake.lake.publish import Store
from zenlake.report import Selection, collect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("contents") / "lake"
    outcome = run([str(CAPTURES)], place, spark)
    assert not outcome.failed
    assert not outcome.damaged
    assert sorted(outcome.read) == sorted(str(path) for path in PATHS.values())
    return place


@pytest.fixture(scope="session")
def tables(lake: Path) -> Tables:
    return Tables(lake)


@pytest.fixture(scope="session")
def page_data(lake: Path) -> dict[str, Any]:
    """The data of the page of all captures, which takes seconds to compute."""
    return collect(Store(lake), Selection())
