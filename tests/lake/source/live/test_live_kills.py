"""R08 and R10: drivers and Python workers of streams are killed; every row is read once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tests.chance import IS_FULL
from tests.child_process import child_environment
from tests.lake.conftest import INTERPRETED
from tests.lake.source.live import killed_stream
from tests.lake.source.live.recorded import (
    Recorded,
    TestRecorder,
    parts_of,
    recorded_packets,
)
from tests.lake.source.live.test_live_spark import Sink, batch_rows
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.xdist_group("faults")

DRIVER_KILLS = 30 if IS_FULL else 3
WORKER_KILLS = 20 if IS_FULL else 1
PATIENCE_S = 300.0
"""A start of Spark takes minutes on a busy machine."""
PLANNER = b"python_streaming_source_runner"
WORKER = b"pyspark.worker"
SETTINGS = json.dumps({} if IS_FULL else INTERPRETED)
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def packets() -> list[Recorded]:
    return recorded_packets("sessions.pcapng.gz")


def test_driver_killed_at_any_instant_loses_and_repeats_nothing(
    spark: SparkSession, tmp_path: Path, packets: list[Recorded]
) -> None:
    """Half of the kills come right after a micro-batch was planned or written."""
    recorder = TestRecorder(tmp_path / "recording")
    chance = random.Random(17)
    sink = Sink(spark, tmp_path)
    *parts, last = parts_of(packets, DRIVER_KILLS + 1)
    for number, part in enumerate(parts):
        recorder.write(part)
        if number % 2:
            recorder.rotate()
        folder = "offsets" if number % 2 else "commits"
        before = len(list((sink.checkpoint / folder).glob("[0-9]*")))
        driver = start_driver(recorder.folder, tmp_path)
        try:
            wait_for(lambda: has_more(sink.checkpoint / folder, before), driver)  # noqa: B023  # this turn's
            time.sleep(chance.random() * 0.4)
        finally:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
    recorder.write(last)
    sink.run(recorder.folder)
    assert sink.rows() == batch_rows(recorder.folder)


def start_driver(recording: Path, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, killed_stream.__file__, str(recording), str(folder), SETTINGS],
        env=child_environment(JAVA_TOOL_OPTIONS=_JAVA),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def has_more(folder: Path, count: int) -> bool:
    return len(list(folder.glob("[0-9]*"))) > count


def wait_for(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    until(lambda: is_so() or process.poll() is not None, PATIENCE_S)
    assert process.poll() is None, "the driver ended by itself"


@pytest.mark.parametrize("kind", [PLANNER, WORKER], ids=["latestOffset", "read"])
def test_killed_python_process_costs_no_row(
    spark: SparkSession, tmp_path: Path, packets: list[Recorded], kind: bytes
) -> None:
    """The query fails with a message, or recovers; the next run goes on where it was."""
    recorder = TestRecorder(tmp_path / "recording")
    sink = Sink(spark, tmp_path, maxBytesPerTrigger="15k")
    killed = 0
    for part in parts_of(packets, WORKER_KILLS):
        recorder.write(part)
        query = sink.start(recorder.folder, processingTime="0 seconds")
        until(lambda: children_of(os.getpid(), kind), 60)  # this turn's
        time.sleep(0.02 * (killed % 5))
        for process in children_of(os.getpid(), kind):
            try:
                os.kill(process, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                continue
        finish(query)
    assert killed >= WORKER_KILLS
    sink.run(recorder.folder)
    assert sink.rows() == batch_rows(recorder.folder)


def finish(query: StreamingQuery) -> None:
    """Waits until the query has read everything or failed."""
    with suppress(Py4JError, PySparkException):
        query.processAllAvailable()
    if query.isActive:
        query.stop()


def children_of(ancestor: int, word: bytes) -> list[int]:
    """Processes of Spark with a word in their command, without the daemons that fork them."""
    parents: dict[int, int] = {}
    commands: dict[int, bytes] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stat = (place / "stat").read_text()
            commands[int(place.name)] = (place / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(place.name)] = int(stat.rpartition(")")[2].split()[1])

    def is_ours(process: int) -> bool:
        while process and process != ancestor:
            process = parents.get(process, 0)
        return process == ancestor

    def is_daemon(process: int) -> bool:
        return b"daemon" in commands[process] and word not in commands.get(parents[process], b"")

    return [
        process
        for process, command in commands.items()
        if word in command and is_ours(process) and not is_daemon(process)
    ]
