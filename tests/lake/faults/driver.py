"""Driver: `zenlake pipeline` as a process of its own, to be killed at a chosen instant."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

WAIT_SECONDS = 300
_POLL_SECONDS = 0.002
# A process that is to die soon need not optimise itself.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def environment() -> dict[str, str]:
    """For children that shall find the same packages and start fast."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JAVA_TOOL_OPTIONS": _JAVA}


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> bool:
    """False where the process ended before."""
    until = time.monotonic() + WAIT_SECONDS
    while not is_so():
        if process.poll() is not None:
            return False
        assert time.monotonic() < until, "waited for too long"
        time.sleep(_POLL_SECONDS)
    return True


class Driver:
    """Runs from the beginning; in a process group of its own, with its Java."""

    def __init__(self, lake: Path, *captures: str) -> None:
        self._lake = lake
        command = [sys.executable, "-m", "zenlake.cli.main", "pipeline", *captures]
        command += ["--lake", str(lake), "--master", "local[2]", "--quiet"]
        self.process = subprocess.Popen(
            command,
            env=environment(),
            cwd=lake.parent,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def reach(self, step: str) -> bool:
        """Waits for a step of the pipeline, or for a version as `_versions/2`."""
        place = step if step.startswith("_") else f"_staging/*/{step}"
        return wait_until(lambda: any(self._lake.glob(place)), self.process)

    def kill(self, with_java: bool) -> bool:
        """Whether it was alive. Java on its own goes when it finds that its driver is gone."""
        was_alive = self.process.poll() is None
        if was_alive:
            kill = os.killpg if with_java else os.kill
            kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return was_alive
