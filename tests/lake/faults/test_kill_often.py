"""R08 at many moments, most of them spread over a whole run, the others during publication."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lake.comparison import differences
from tests.lake.faults.after_kill import check, watching
from tests.lake.faults.captures import A, B
from tests.lake.faults.conftest import Lakes
from tests.lake.faults.driver import Driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")

TIMED_KILLS = 18
PUBLISHING_KILLS = 9
PUBLISHING_SECONDS = 0.3


def test_driver_killed_at_many_moments_leaves_one_state(
    tmp_path: Path, lakes: Lakes, spark: SparkSession
) -> None:
    lake = lakes.copy(tmp_path / "whole")
    began = time.monotonic()
    whole = Driver(lake, A, B)
    assert whole.process.wait() == 0
    life_seconds = time.monotonic() - began
    assert differences(lake, lakes.new) == {}
    states = []
    for number in range(TIMED_KILLS + PUBLISHING_KILLS):
        lake = lakes.copy(tmp_path / str(number))
        at = 0.0
        with watching(lake, lakes):
            driver = Driver(lake, A, B)
            try:
                if number < TIMED_KILLS:
                    at = life_seconds * (number + 1) / (TIMED_KILLS + 1)
                elif driver.reach("publish"):
                    at = PUBLISHING_SECONDS * (number - TIMED_KILLS) / PUBLISHING_KILLS
                time.sleep(at)  # killed at a chosen moment
            finally:
                was_alive = driver.kill(with_java=number % 2 == 0)
            states.append((number, round(at, 3), was_alive, check(lake, lakes, spark)))
        print(*states[-1], flush=True)
    print(f"life {life_seconds:.1f} s")
    assert {state for _, _, _, state in states} == {"old", "new"}
    assert sum(was_alive for _, _, was_alive, _ in states) >= TIMED_KILLS // 2
