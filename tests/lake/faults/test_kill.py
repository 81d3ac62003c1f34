"""R08: a driver killed at any moment leaves either all old tables or all new ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.chance import IS_FULL
from tests.lake.faults.after_kill import check, state_of, watching
from tests.lake.faults.captures import A, B
from tests.lake.faults.conftest import Lakes
from tests.lake.faults.driver import Driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")

KILLS = [("survey", True), ("read", False), ("publish", True)]
"""The step, and whether Java is killed with the driver."""
if not IS_FULL:
    KILLS = KILLS[1:]  # each kill starts Spark, and the survey writes nothing


def test_driver_killed_in_each_step_leaves_one_state(
    tmp_path: Path, lakes: Lakes, spark: SparkSession
) -> None:
    """Each run begins with the state that the previous one left."""
    lake = lakes.copy(tmp_path / "lake")
    with watching(lake, lakes):
        for step, with_java in KILLS:
            driver = Driver(lake, A, B)
            try:
                assert driver.reach(step)
            finally:
                assert driver.kill(with_java)
            assert state_of(lake, lakes) == "old" or step == "publish"
        check(lake, lakes, spark)
