"""R08, R10: `zenlake pipeline --follow` killed at any moment, started again, loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.chance import IS_FULL
from tests.child_process import child_environment
from tests.lake.follow.comparison import batch_tables, differences
from tests.lake.follow.growing import GrowingRecording, raw_packets
from tests.paths import CAPTURES
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.follow.settings import Settings
from zenlake.lake.publish import Store

KILLS = 20 if IS_FULL else 2
"""The number of kills; each start takes seconds."""
PATIENCE_S = 120
PACKETS_AHEAD = 6
"""Packets for each version: so few that the capture of 503 packets suffices for all kills."""

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("killed_follower")]


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


class SlowGrowth:
    """A recording that grows while a follower runs, by few packets at a time.

    On a slow machine all packets would otherwise be there before the follower has started, and no
    version would follow.
    """

    def __init__(self, recording: GrowingRecording) -> None:
        self._recording = recording
        self._limit = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> SlowGrowth:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(0.1):
            if self._recording.written < self._limit:
                self._recording.grow(1)

    def next_version(self, process: subprocess.Popen[str]) -> None:
        """Waits until the follower says that it has published some of the next packets."""
        assert not self._recording.is_written
        self._limit = self._recording.written + PACKETS_AHEAD
        assert process.stdout is not None
        assert process.stdout.readline(), process.communicate()[1]


def kill_readers(process: subprocess.Popen[str], growth: SlowGrowth) -> None:
    """Another reader is started, and a version follows."""
    for pid in readers(process.pid):
        os.kill(pid, signal.SIGKILL)
    growth.next_version(process)
    growth.next_version(process)


def test_killed_follower_goes_on_and_has_all_rows_once(tmp_path: Path, here: Any) -> None:
    """Drivers are killed, alone or with their children, and the readers of each before."""
    random = Random(5)
    found = raw_packets(CAPTURES / "routers_ring.pcapng.gz")
    recording = GrowingRecording(tmp_path / "recording", found, 40)
    lake = tmp_path / "lake"
    with SlowGrowth(recording) as growth:
        for kill in islice(cycle((os.kill, os.killpg)), KILLS):
            process = start(recording.folder, lake)
            growth.next_version(process)
            time.sleep(random.uniform(0, 0.5))  # any moment of the batches that follow
            kill_readers(process, growth)
            time.sleep(random.uniform(0, 1.5))  # any moment of the batches that follow
            kill(process.pid, signal.SIGKILL)
            process.communicate(timeout=PATIENCE_S)
        process = start(recording.folder, lake)
        growth.next_version(process)
        kill_readers(process, growth)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        process.communicate(timeout=PATIENCE_S)
    before = Store(lake).version()
    recording.finish()
    follow([str(recording.folder)], lake, here, Stop(), Settings(until_end=True))
    after = Store(lake).version()
    assert before is not None
    assert after is not None
    assert after > before
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}
