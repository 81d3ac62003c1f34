"""Commands of zenlake as processes of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from tests.child_process import child_environment

ZENLAKE = (sys.executable, "-m", "zenlake")
PATIENCE_S = 20


def run_zenlake(
    *arguments: str,
    stdin: str = "",
    folder: Path | None = None,
    timeout_s: float = 60,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ZENLAKE, *arguments],
        input=stdin,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env=child_environment(**environment),
    )


class CommandProcess:
    """A command that runs until it is ended; killed at the end of a `with`."""

    def __init__(self, *arguments: str, folder: Path | None = None, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*ZENLAKE, *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment(**environment),
        )

    def next_line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"it ended: {self.process.communicate()[1]}")
        return line

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class JsonCommandProcess(CommandProcess):
    """A command that prints its entries as JSON."""

    def __init__(self, command: str, *arguments: str, **environment: str) -> None:
        options = ("--json", "--no-multicast-scouting", *arguments)
        super().__init__(command, *options, folder=None, **environment)
        self.entries: list[dict[str, Any]] = []
        self.errors = ""
        self.ended_s = 0.0

    def next_entry(self) -> dict[str, Any]:
        self.entries.append(json.loads(self.next_line()))
        return self.entries[-1]

    def end(self, number: int = signal.SIGINT) -> int:
        """End it and return the exit code; its output is in `entries` and `errors`."""
        began = time.monotonic()
        self.process.send_signal(number)
        out, self.errors = self.process.communicate(timeout=PATIENCE_S)
        self.ended_s = time.monotonic() - began
        self.entries += [json.loads(line) for line in out.splitlines()]
        return self.process.returncode


class RouterProcess(JsonCommandProcess):
    """`zenlake router`, which accepts connections at `endpoint` once it is constructed."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        defaults = ["--cfg", "scouting/delay:0"]
        if not {"-l", "--listen"} & set(arguments):
            defaults += ["-l", "tcp/127.0.0.1:0"]
        super().__init__("router", *defaults, *arguments, **environment)
        self.zid = self._wait_for("the id is ").rpartition(" ")[2]
        self.endpoint = self._wait_for("reachable at ").rpartition(" ")[2]

    def _wait_for(self, text: str) -> str:
        while text not in (message := str(self.next_entry()["message"])):
            pass
        return message


class RecordProcess(JsonCommandProcess):
    """`zenlake record`, which has subscribed once it is constructed."""

    def __init__(self, *arguments: str) -> None:
        super().__init__("record", "--progress", "0.1", *arguments)
        entry = self.next_entry()
        assert entry["event"] == "recording", entry

    def wait_for_messages(self, count: int) -> dict[str, Any]:
        """Wait until so many messages were received on open links."""
        deadline = time.monotonic() + PATIENCE_S
        while (entry := self.next_entry()).get("messages", 0) < count:
            assert time.monotonic() < deadline, entry
        return entry
