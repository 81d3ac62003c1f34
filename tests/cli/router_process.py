"""`zenlake router` as a process of its own."""

from __future__ import annotations

import json
import signal
from typing import Any

from tests.cli.command import CommandProcess

PATIENCE_S = 20


class RouterProcess(CommandProcess):
    """Started by the constructor; `locators` are its addresses."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        defaults = ["--no-multicast-scouting", "--cfg", "scouting/delay:0"]
        if not {"-l", "--listen"} & set(arguments):
            defaults += ["-l", "tcp/127.0.0.1:0"]
        super().__init__("router", "--json", *defaults, *arguments, environment=environment)
        self.entries: list[dict[str, Any]] = []
        self.zid = self._wait_for("the id is ").rpartition(" ")[2]
        self.locators = [self._wait_for("reachable at ").rpartition(" ")[2]]

    @property
    def endpoint(self) -> str:
        return self.locators[0]

    def _wait_for(self, text: str) -> str:
        while True:
            entry = json.loads(self.next_line())
            self.entries.append(entry)
            if text in entry["message"]:
                return str(entry["message"])

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it and return the exit code; its log is in `entries`."""
        self.process.send_signal(number)
        out, self.errors = self.process.communicate(timeout=PATIENCE_S)
        self.entries += [json.loads(line) for line in out.splitlines()]
        return self.process.returncode
