"""Driver: `zenlake pipeline` as a separate process, to be killed at a chosen moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.child_process import child_environment
from tests.waiting import until

WAIT_SECONDS = 300
# A process that will be killed soon need not be optimised by Java.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def environment() -> dict[str, str]:
    """An environment for children that use the same packages and start fast."""
    return child_environment(JAVA_TOOL_OPTIONS=_JAVA)


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> bool:
    """Waits for a condition; returns False if the process ended first."""
    found = False

    def is_over() -> bool:
        nonlocal found
        found = is_so()
        return found or process.poll() is not None

    until(is_over, WAIT_SECONDS)
    return found


class Driver:
    """Starts the pipeline in its own process group, with its Java."""

    def __init__(self, lake: Path, *captures: str, scratch: Path | None = None) -> None:
        self._lake = lake
        self._scratch = scratch
        self._commits = len(self._log())
        variables = environment()
        if scratch is not None:
            variables["TMPDIR"] = str(scratch)
        command = [sys.executable, "-m", "zenlake.cli.main", "pipeline", *captures]
        command += ["--lake", str(lake), "--master", "local[2]", "--quiet"]
        self.process = subprocess.Popen(
            command,
            env=variables,
            cwd=lake.parent,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def reach(self, step: str) -> bool:
        """Waits for a step of the pipeline: `survey`, `read` or `publish`."""
        if step == "publish":
            return wait_until(lambda: len(self._log()) > self._commits, self.process)
        place = {"survey": "_staging/*", "read": "_staging/*/task-*/*/*.parquet"}[step]
        return wait_until(lambda: any(self._lake.glob(place)), self.process)

    def begin(self, stage: str) -> bool:
        """Waits until the driver begins a stage, for which it makes a folder in `scratch`."""
        scratch = self._scratch
        assert scratch is not None
        return wait_until(lambda: any(scratch.glob(f"zenlake-*/{stage}")), self.process)

    def stage(self, stages: Sequence[str]) -> str:
        """The last of these stages that has begun; `over` if the folder is gone already."""
        scratch = self._scratch
        assert scratch is not None
        begun = [stage for stage in stages if any(scratch.glob(f"zenlake-*/{stage}"))]
        return begun[-1] if begun else "over"

    def _log(self) -> list[Path]:
        """The log to which a run commits first when it publishes."""
        return list(self._lake.glob("captures/_delta_log/*.json"))

    def kill(self, with_java: bool) -> bool:
        """Kills the driver; returns whether it was alive. Java alone ends when it notices that."""
        was_alive = self.process.poll() is None
        if was_alive:
            kill = os.killpg if with_java else os.kill
            kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return was_alive
