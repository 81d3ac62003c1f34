"""`zenlake record` as a process of its own."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

from tests.cli.command import CommandProcess

PATIENCE_S = 20


class RecordProcess(CommandProcess):
    """Started by the constructor, which returns when the process has subscribed."""

    def __init__(self, *arguments: str) -> None:
        defaults = ["--no-multicast-scouting", "--progress", "0.1"]
        super().__init__("record", "--json", *defaults, *arguments)
        self.ended_s = 0.0
        self.errors = ""
        entry = self.next_entry()
        assert entry["event"] == "recording", entry

    def next_entry(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.next_line())
        return found

    def wait_for_messages(self, count: int) -> dict[str, Any]:
        """Wait until so many messages were received on open links."""
        deadline = time.monotonic() + PATIENCE_S
        while (entry := self.next_entry()).get("messages", 0) < count:
            assert time.monotonic() < deadline, entry
        return entry

    def end(self, number: int = signal.SIGINT) -> tuple[int, dict[str, Any]]:
        """End it; returns the exit code and the last entry."""
        began = time.monotonic()
        self.process.send_signal(number)
        out, self.errors = self.process.communicate(timeout=PATIENCE_S)
        self.ended_s = time.monotonic() - began
        return self.process.returncode, json.loads(out.splitlines()[-1])
