"""The number of tasks that a Spark session runs at once, from its settings and its executors.

Spark's `defaultParallelism` is wrong before executors have registered (2 with dynamic allocation),
and Spark Connect does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

UNBOUNDED_CORES: Final = 64
"""Assumed if executors are allocated on demand without a limit: Spark requests executors while
tasks wait, so the number of tasks determines how far the cluster grows."""
# The settings that `task_slots` reads.
SETTINGS: Final = (
    "spark.master",
    "spark.cores.max",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.maxExecutors",
    "spark.task.cpus",
)
_LOCAL: Final = re.compile(r"local(?:\[\s*(\*|\d+)\s*(?:,\s*\d+\s*)?\])?")
_LOCAL_CLUSTER: Final = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]")


@dataclass(frozen=True)
class Cluster:
    """Facts about the cluster of a session. `executors` is None if they are not counted."""

    settings: Mapping[str, str] = field(default_factory=dict)
    executors: int | None = None
    default_parallelism: int = 1
    """Spark's value: the cores of the registered executors, unless it was set."""

    @property
    def is_local(self) -> bool:
        """Whether tasks run on one machine, in Spark's own process."""
        return _LOCAL.fullmatch(self.settings.get("spark.master", "")) is not None

    @property
    def is_dynamic(self) -> bool:
        return self.settings.get("spark.dynamicAllocation.enabled", "").lower() == "true"

    @property
    def is_complete(self) -> bool:
        """Whether no more executors are expected."""
        if self.is_local or self.is_dynamic or self.executors is None:
            return True
        promised = promised_cores(self)
        return promised is not None and self.executors > 0 and registered_cores(self) >= promised


def task_slots(cluster: Cluster) -> int:
    """The number of slots, at least 1, from registered executors; from settings if there are none
    yet or executors are allocated on demand."""
    cores = registered_cores(cluster)
    promised = promised_cores(cluster)
    if cluster.is_dynamic:
        cores = max(cores, promised or UNBOUNDED_CORES)
    elif not cores or cluster.executors is None:
        cores = promised or cores or cluster.default_parallelism
    return max(1, cores // (_number(cluster, "spark.task.cpus") or 1))


def registered_cores(cluster: Cluster) -> int:
    """Cores of the registered executors; 0 if there are none yet."""
    if cluster.is_local or cluster.executors is None:
        return cluster.default_parallelism
    per_executor = _number(cluster, "spark.executor.cores")
    if per_executor is not None:
        return cluster.executors * per_executor
    return cluster.default_parallelism if cluster.executors else 0


def promised_cores(cluster: Cluster) -> int | None:
    """Cores that the settings request; None if they leave it to the cluster."""
    master = cluster.settings.get("spark.master", "")
    if local := _LOCAL.fullmatch(master):
        return None if local[1] == "*" else int(local[1] or 1)
    if local_cluster := _LOCAL_CLUSTER.fullmatch(master):
        return int(local_cluster[1]) * int(local_cluster[2])
    name = "dynamicAllocation.maxExecutors" if cluster.is_dynamic else "executor.instances"
    executors = _number(cluster, f"spark.{name}")
    asked = None
    if executors is not None:
        asked = executors * (_number(cluster, "spark.executor.cores") or 1)
    found = [one for one in (asked, _number(cluster, "spark.cores.max")) if one is not None]
    return min(found, default=None)


def _number(cluster: Cluster, name: str) -> int | None:
    """A setting; None if it is not set, or unbounded (`infinity`, 2147483647)."""
    text = cluster.settings.get(name, "").strip()
    if not text.isdecimal() or not 0 < int(text) < (1 << 31) - 1:
        return None
    return int(text)
