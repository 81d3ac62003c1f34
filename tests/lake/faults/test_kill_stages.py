"""R08: a driver killed at a random moment of each stage, with a small and with a split capture."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.chance import first_seed
from tests.lake.faults.after_kill import check, check_vacuum
from tests.lake.faults.captures import A, B, replicated
from tests.lake.faults.conftest import Lakes
from tests.lake.faults.driver import Driver
from zenlake.lake.pipeline import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")

KILLS_PER_STAGE = 6
SOURCES = ("queries.pcapng.gz", "routers_ring.pcapng.gz", "pubsub_router.pcapng", "qos_matrix.pcap")
COPIES = 110
SMALL_STAGES = ("survey", "read", "publish")
"""Without `derive`: tables of a capture that one task reads are derived while it is read."""
SPLIT_STAGES = ("survey", "read", "derive", "publish")


def kill_in_stages(
    folder: Path, lakes: Lakes, spark: SparkSession, added: str, stages: tuple[str, ...]
) -> None:
    seed = first_seed()
    print("seed", seed, flush=True)
    chance = Random(seed)
    calm = lakes.copy(folder / "calm")
    durations = run([A, added], calm, spark).seconds
    assert set(durations) == set(stages), durations
    # A process that has just started is slower, mostly when it publishes.
    durations["publish"] *= 4
    states: Counter[tuple[str, str]] = Counter()
    for number in range(KILLS_PER_STAGE * len(stages)):
        stage = stages[number % len(stages)]
        lake = lakes.copy(folder / str(number))
        scratch = folder / f"scratch-{number}"
        scratch.mkdir()
        driver = Driver(lake, A, added, scratch=scratch)
        try:
            assert driver.begin(stage), f"the run ended before {stage}"
            after = chance.random() * durations[stage]
            time.sleep(after)  # killed at a random moment of the stage
            stage = driver.stage(stages)
        finally:
            was_alive = driver.kill(with_java=chance.random() < 0.5)
        state = check(lake, lakes, spark, added)
        check_vacuum(lake)
        states[stage, state] += was_alive
        print(number, stage, round(after, 3), was_alive, state, flush=True)
    print(dict(states), durations, flush=True)
    assert sum(states.values()) >= KILLS_PER_STAGE * len(stages) * 3 // 4
    for stage in stages[:-1]:
        assert not states[stage, "new"]


def test_driver_killed_in_each_stage_of_a_small_capture(
    tmp_path: Path, lakes: Lakes, spark: SparkSession
) -> None:
    kill_in_stages(tmp_path, lakes, spark, B, SMALL_STAGES)


def test_driver_killed_in_each_stage_of_a_split_capture(
    tmp_path: Path, lakes: Lakes, spark: SparkSession
) -> None:
    large = replicated(tmp_path / "large.pcapng", COPIES, *SOURCES)
    both = Lakes(lakes.old, tmp_path / "new")
    both.copy(both.new)
    assert run([A, large], both.new, spark).read == [large]
    kill_in_stages(tmp_path, both, spark, large, SPLIT_STAGES)
