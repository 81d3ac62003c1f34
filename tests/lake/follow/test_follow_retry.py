"""R11: workers of Spark are killed while `--follow` derives tables: no row is lost or repeated."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.chance import IS_FULL
from tests.lake.faults.workers import kill_workers
from tests.lake.follow.comparison import batch_tables, differences
from tests.lake.follow.growing import GrowingRecording, grow_slowly, raw_packets
from tests.lake.follow.test_follow_killed import PATIENCE_S, start
from tests.paths import CAPTURES
from tests.waiting import until
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.follow.settings import Settings
from zenlake.lake.publish import Store

KILLS = 12 if IS_FULL else 2

pytestmark = pytest.mark.spark


def kill_in_a_task(process: subprocess.Popen[str], lake: Path, begun: set[Path]) -> None:
    """Kills all workers while a task that is new has a folder for its files."""

    def is_killed() -> bool:
        assert process.poll() is None, "the driver ended by itself"
        found = {*lake.glob("_staging/*/task-*")} - begun
        if not found or not kill_workers(process.pid, signal.SIGKILL):
            return False
        begun.update(found)
        return True

    until(is_killed, PATIENCE_S)


@pytest.mark.xdist_group("killed_workers")
def test_killed_workers_cost_and_repeat_no_row(tmp_path: Path) -> None:
    found = raw_packets(CAPTURES / "routers_ring.pcapng.gz")
    recording = GrowingRecording(tmp_path / "recording", found, 40)
    lake = tmp_path / "lake"
    over = threading.Event()
    thread = threading.Thread(target=grow_slowly, args=(recording, over))
    thread.start()
    begun: set[Path] = set()
    try:
        process = start(recording.folder, lake, "--until-end")
        for _ in range(KILLS):
            kill_in_a_task(process, lake, begun)
            assert process.stdout is not None
            assert process.stdout.readline(), process.communicate()[1]
    finally:
        over.set()
        thread.join()
    assert len(begun) >= KILLS
    recording.finish()
    _, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said) == (0, "")
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}


@pytest.mark.xdist_group("dying_task")
def test_task_that_dies_each_time_is_one_line_and_the_next_run_goes_on(
    tmp_path: Path, here: Any
) -> None:
    found = raw_packets(CAPTURES / "liveliness.pcapng.gz")
    recording = GrowingRecording(tmp_path / "recording", found, 40)
    recording.grow(50)
    lake = tmp_path / "lake"
    process = start(recording.folder, lake)
    assert process.stdout is not None
    assert process.stdout.readline()
    version = Store(lake).version()
    recording.grow(50)
    while process.poll() is None:
        kill_workers(process.pid, signal.SIGKILL)
        time.sleep(0.03)  # a task lives longer
    said = process.communicate()[1]
    assert (process.returncode, said.count("\n")) == (2, 1), said
    assert said.startswith("zenlake: Spark failed: ")
    assert Store(lake).version() == version
    recording.finish()
    follow([str(recording.folder)], lake, here, Stop(), Settings(until_end=True))
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}
