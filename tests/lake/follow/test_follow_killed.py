"""R08, R10: `zenlake pipeline --follow` killed at any moment, started again, loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.chance import IS_FULL
from tests.child_process import child_environment
from tests.lake.follow.comparison import batch_lake, differences
from tests.lake.follow.growing import GrowingRecording, raw_packets
from zenlake.lake.publish import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAPTURES = Path(__file__).parents[2] / "data" / "captures"
KILLS = 20 if IS_FULL else 2
"""Each start takes seconds."""
PATIENCE_S = 120

pytestmark = pytest.mark.xdist_group("faults")


def start(recording: Path, lake: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "zenlake.cli.main", "pipeline", "--follow", str(recording)]
    return subprocess.Popen(
        [*command, "--lake", str(lake), "--every", "0.1", "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=child_environment(),
        start_new_session=True,
    )


def readers(pid: int) -> list[int]:
    """The processes that read the recording for a follower."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    name = b"zenlake.lake.follow.reader_process"
    return [int(one) for one in children if name in Path(f"/proc/{one}/cmdline").read_bytes()]


def grow_slowly(recording: GrowingRecording, over: threading.Event) -> None:
    while not over.wait(0.1):
        recording.grow(1)


@pytest.mark.parametrize("victim", ["driver", "reader", "group"])
def test_killed_follower_goes_on_and_has_all_rows_once(
    tmp_path: Path, spark: SparkSession, victim: str
) -> None:
    random = Random(victim)
    found = raw_packets(CAPTURES / "routers_ring.pcapng.gz")
    recording = GrowingRecording(tmp_path / "recording", found, 40)
    lake = tmp_path / "lake"
    over = threading.Event()
    thread = threading.Thread(target=grow_slowly, args=(recording, over))
    thread.start()
    try:
        for _ in range(KILLS):
            process = start(recording.folder, lake)
            assert process.stdout is not None
            assert process.stdout.readline(), process.communicate()[1]
            time.sleep(random.uniform(0, 1.5))  # any moment of the batches that follow
            if victim == "reader":
                for pid in readers(process.pid):
                    os.kill(pid, signal.SIGKILL)
                # Another reader is started, and a version follows.
                assert process.stdout.readline(), process.communicate()[1]
                assert process.stdout.readline(), process.communicate()[1]
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE_S) == 0
            elif victim == "group":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            process.communicate(timeout=PATIENCE_S)
    finally:
        over.set()
        thread.join()
    before = Store(lake).version()
    recording.finish()
    last = start(recording.folder, lake, "--until-end")
    _, said = last.communicate(timeout=PATIENCE_S)
    assert (last.returncode, said) == (0, "")
    after = Store(lake).version()
    assert before is not None
    assert after is not None
    assert after > before
    batch = batch_lake(tmp_path / "batch", recording.packets, spark)
    assert differences(lake, batch) == {}
