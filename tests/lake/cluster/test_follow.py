"""R11: `--follow` on a cluster of which one worker stops; its tasks run on the other one too."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lake.cluster.following import start
from tests.lake.cluster.standalone import Cluster
from tests.lake.cluster.test_speculation import SETTINGS
from tests.lake.faults.driver import wait_until
from tests.lake.faults.workers import kill_workers
from tests.lake.follow.comparison import batch_tables, differences
from tests.lake.follow.growing import GrowingRecording, grow_slowly, raw_packets
from tests.paths import CAPTURES
from zenlake.lake.errors import LakeError
from zenlake.lake.publish import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

# A stage of one task has no median of others.
THRESHOLD = {"spark.speculation.task.duration.threshold": "2s"}


def version(lake: Path) -> int:
    try:
        return Store(lake).version() or 0
    except LakeError:
        return 0


def test_versions_go_on_while_a_worker_is_stopped(
    cluster: Cluster, tmp_path: Path, spark: SparkSession
) -> None:
    found = raw_packets(CAPTURES / "routers_ring.pcapng.gz")
    recording = GrowingRecording(tmp_path / "recording", found, 40)
    lake = tmp_path / "lake"
    over = threading.Event()
    thread = threading.Thread(target=grow_slowly, args=(recording, over))
    thread.start()
    worker = cluster.services[-1].process.pid
    try:
        with start(cluster.url, recording.folder, lake, **SETTINGS, **THRESHOLD) as child:
            try:
                assert wait_until(lambda: version(lake) > 0, child)
                assert wait_until(lambda: kill_workers(worker, signal.SIGSTOP) > 0, child)
                seen = version(lake)
                assert wait_until(lambda: version(lake) > seen + 2, child)
            finally:
                over.set()
                thread.join()
                recording.finish()
            assert child.wait() == 0
    finally:
        kill_workers(worker, signal.SIGCONT)
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}
