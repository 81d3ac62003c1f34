"""R11: a worker is killed while it reads; Spark retries its task, and no row is duplicated."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.lake.comparison import counts, differences
from tests.lake.faults import retrying
from tests.lake.faults.captures import replicated
from tests.lake.faults.driver import environment, wait_until
from tests.lake.faults.leftovers import leftovers
from tests.lake.faults.workers import kill_workers
from zenlake.lake.publish import Store

pytestmark = pytest.mark.xdist_group("faults")

COPIES = 500 if IS_FULL else 40
"""Enough copies that rows are written while others are still read, by either reader."""
ATTEMPTS = 4


@pytest.mark.parametrize("kills", [1, 3, ATTEMPTS] if IS_FULL else [1])
def test_killed_workers_duplicate_no_rows(kills: int, tmp_path: Path) -> None:
    capture = replicated(tmp_path / "large.pcapng", COPIES, "pubsub_router.pcapng")
    calm, lake = tmp_path / "calm", tmp_path / "lake"
    command = [sys.executable, retrying.__file__, capture, str(calm), str(lake)]
    child = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    begun: dict[int, Path] = {}
    """Files of killed attempts, by inode."""

    def has_written() -> bool:
        """Whether an attempt that is still alive has written a file."""
        place = "_staging/*/task-*/messages/*.parquet"
        files = {file.stat().st_ino: file for file in lake.glob(place) if file.stat().st_size > 4}
        is_new = bool(files.keys() - begun.keys())
        begun.update(files)
        return is_new

    with child:
        for _ in range(kills):
            assert wait_until(has_written, child)
            assert kill_workers(child.pid, signal.SIGKILL)
        said = child.communicate()[0].decode()
    assert len(begun) == kills
    if kills >= ATTEMPTS:
        assert child.returncode == 1
        assert said.count("\n") == 1
        assert "worker exited unexpectedly" in said
        assert Store(lake).version() is None
    else:
        assert child.returncode == 0, said
        assert differences(lake, calm) == {}
        assert counts(lake)["messages"] > 700 * COPIES
        published = {file.stat().st_ino for file in lake.glob("*/*.parquet")}
        assert not published & begun.keys()
    assert leftovers(lake) == []
