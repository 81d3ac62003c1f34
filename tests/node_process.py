"""A node of eclipse-zenoh or of zenlake in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from tests.child_process import child_environment

_PROGRAM = """
import importlib, json, sys
zenoh = importlib.import_module(sys.argv[2])
config = zenoh.Config()
for path, value in json.loads(sys.argv[1]).items():
    config.insert_json5(path, json.dumps(value))
with zenoh.open(config) as session:
    print(session.zid(), flush=True)
    for line in sys.stdin:
        verb, key, payload = line.split()
        session.put(key, payload)
"""


class NodeProcess:
    """Opened by the constructor; `put` publishes, `kill` ends it without CLOSE."""

    def __init__(self, mode: str, module: str = "zenoh", **config: object) -> None:
        settings = {
            "mode": mode,
            "scouting/multicast/enabled": False,
            **{path.replace("__", "/"): value for path, value in config.items()},
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, json.dumps(settings), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=child_environment(),
        )
        assert self._process.stdout is not None
        self.zid = self._process.stdout.readline().strip()
        assert self.zid, "the node could not be opened"

    def put(self, key: str, payload: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"put {key} {payload}\n")
        self._process.stdin.flush()

    def freeze(self) -> None:
        """Stop it as if its machine lost power: connections stay open, but are silent."""
        self._process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> NodeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
