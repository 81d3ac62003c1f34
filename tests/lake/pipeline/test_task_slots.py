"""The number of concurrent tasks, from settings and executors of simulated clusters."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark", reason="needs zenlake[lake]")

from zenlake.lake.pipeline import tasks
from zenlake.lake.pipeline.task_slots import UNBOUNDED_CORES, Cluster, task_slots

DYNAMIC = {"dynamicAllocation.enabled": "true"}
STANDALONE = {"master": "spark://host:7077"}


def cluster(
    settings: dict[str, str], executors: int | None = 0, default_parallelism: int = 2
) -> Cluster:
    named = {f"spark.{name}": value for name, value in settings.items()}
    return Cluster(named, executors, default_parallelism)


@pytest.mark.parametrize(
    ("settings", "executors", "default", "slots"),
    [
        # On one machine Spark's default is right.
        ({"master": "local"}, 0, 1, 1),
        ({"master": "local[3]"}, 0, 3, 3),
        ({"master": "local[*,4]"}, 0, 16, 16),
        ({"master": "local[8]", "task.cpus": "2"}, 0, 8, 4),
        ({"master": "local[1]", "task.cpus": "2"}, 0, 1, 1),
        # Existing executors count, whatever was requested.
        (STANDALONE, 2, 12, 12),
        ({**STANDALONE, "executor.cores": "4"}, 3, 2, 12),
        ({**STANDALONE, "cores.max": "64", "executor.cores": "4"}, 3, 12, 12),
        ({"master": "yarn", "executor.instances": "8"}, 3, 3, 3),
        # No executor exists yet: the requested number, else Spark's default.
        ({**STANDALONE, "cores.max": "6"}, 0, 2, 6),
        ({"master": "yarn", "executor.instances": "8", "executor.cores": "5"}, 0, 2, 40),
        ({"master": "yarn", "executor.instances": "8"}, 0, 2, 8),
        (STANDALONE, 0, 2, 2),
        # Executors are started when tasks wait for them.
        (DYNAMIC, 0, 2, UNBOUNDED_CORES),
        ({**DYNAMIC, "dynamicAllocation.maxExecutors": "infinity"}, 0, 2, UNBOUNDED_CORES),
        ({**DYNAMIC, "dynamicAllocation.maxExecutors": "2147483647"}, 0, 2, UNBOUNDED_CORES),
        ({**DYNAMIC, "dynamicAllocation.maxExecutors": "10"}, 0, 2, 10),
        ({**DYNAMIC, "dynamicAllocation.maxExecutors": "10", "executor.cores": "4"}, 1, 4, 40),
        ({**DYNAMIC, "dynamicAllocation.maxExecutors": "10", "cores.max": "6"}, *(0, 2, 6)),
        ({**DYNAMIC, "cores.max": "6", "executor.cores": "4"}, 3, 12, 12),
        # Connect counts no executors.
        ({"master": "local[3]"}, None, 1, 3),
        ({"master": "local[*]"}, None, 7, 7),
        ({"master": "local-cluster[2,3,1024]"}, None, 1, 6),
        ({"master": "yarn", "executor.instances": "8", "executor.cores": "5"}, None, 1, 40),
        (DYNAMIC, None, 1, UNBOUNDED_CORES),
        (STANDALONE, None, 9, 9),
    ],
)
def test_slots_follow_settings_and_executors(
    settings: dict[str, str], executors: int | None, default: int, slots: int
) -> None:
    assert task_slots(cluster(settings, executors, default)) == slots


class Clock:
    """A clock that advances only in `sleep`."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def settle(settings: dict[str, str], arrivals: list[float]) -> tuple[int, float]:
    """Slots after waiting for executors of one core that arrive at these times, and the wait."""
    clock = Clock()

    def look() -> Cluster:
        there = sum(1 for time in arrivals if time <= clock.now)
        return cluster(settings, there, max(2, there))

    found = tasks._complete_cluster(look, lambda: clock.now, clock.sleep)
    return task_slots(found), clock.now


def test_starting_executors_are_waited_for() -> None:
    slots, waited = settle(STANDALONE, [2.5, 2.9, 3.6])
    assert slots == 3
    assert waited < 5


def test_wait_ends_when_all_requested_executors_exist() -> None:
    slots, waited = settle({**STANDALONE, "cores.max": "3"}, [0.5, 0.6, 0.7])
    assert slots == 3
    assert waited < 0.9


def test_wait_for_missing_executors_is_bounded() -> None:
    slots, waited = settle({**STANDALONE, "cores.max": "3"}, [])
    assert slots == 3
    assert waited == pytest.approx(tasks.EXECUTORS_WAIT_SECONDS, abs=0.2)


@pytest.mark.parametrize("settings", [{"master": "local[2]"}, DYNAMIC])
def test_no_wait_if_executors_are_not_counted(settings: dict[str, str]) -> None:
    assert settle(settings, [])[1] == 0
