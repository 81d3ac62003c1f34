"""ReaderClient: the driver's interface to the process that reads a recording."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zenlake.lake.errors import LakeError
from zenlake.lake.jobs import Result


class ReaderDied(Exception):
    """The process ended without an answer; another one can read the recording again."""


class ReaderClient:
    """Starts the process, which first reads again what the lake has.

    `start` has the `path` of the recording, the name of the `capture`, the number of `packets` in
    the lake, the `segment` to begin with (None: the first), and `facts` about earlier packets.
    """

    def __init__(self, start: Mapping[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "zenlake.lake.follow.reader_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask(dict(start))

    @property
    def pid(self) -> int:
        return self._process.pid

    def step(self, folder: Path, rows_max: int) -> Result:
        """Reads new packets; the files with the new rows are in `folder`."""
        return self._ask({"folder": str(folder), "rows_max": rows_max})

    def _ask(self, question: dict[str, Any]) -> Result:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        if not line.endswith("\n"):
            self.close()
            raise ReaderDied(f"the reader ended with code {self._process.returncode}")
        result: Result = json.loads(line)
        if "failure" in result:
            raise LakeError(result["failure"])
        return result

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # the process is gone
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
