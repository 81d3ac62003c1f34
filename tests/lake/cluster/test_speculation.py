"""R11: one worker of a cluster stops, and its tasks run a second time on the other worker."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.lake.cluster.reading import read, start
from tests.lake.cluster.standalone import Cluster
from tests.lake.comparison import differences
from tests.lake.faults.driver import wait_until
from tests.lake.faults.leftovers import leftovers
from tests.lake.faults.workers import kill_workers

pytestmark = pytest.mark.xdist_group("spark")

SPLITS = 4
SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.25",
}


def test_task_that_runs_twice_adds_rows_once(cluster: Cluster, large: str, tmp_path: Path) -> None:
    calm, lake = tmp_path / "calm", tmp_path / "lake"
    read("local[1]", calm, [large], 1)
    seen: set[int] = set()

    def look() -> int:
        files = lake.glob("_staging/*/task-*/messages/*.parquet")
        seen.update(file.stat().st_ino for file in files)
        return len(seen)

    def stop() -> int:
        """Stops the processes of one worker, which may start later than the other."""
        return kill_workers(cluster.services[-1].process.pid, signal.SIGSTOP)

    with start(cluster.url, lake, [large], SPLITS, **SETTINGS) as child:
        assert wait_until(lambda: look() > 0 and stop() > 0, child)
        assert wait_until(lambda: look() > SPLITS, child), "no task ran twice"
        assert child.wait() == 0
    assert differences(lake, calm) == {}
    assert leftovers(lake) == []
