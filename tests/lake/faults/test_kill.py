"""R08: a driver killed at any instant leaves the old tables or the new ones, all of them."""

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
"""In which step, and whether Java is killed with the driver or left to itself."""
if not IS_FULL:
    KILLS = KILLS[-1:]  # each starts Spark


def test_killed_in_one_step_after_the_other(
    tmp_path: Path, lakes: Lakes, spark: SparkSession
) -> None:
    """Each run begins with what the one before it left."""
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
