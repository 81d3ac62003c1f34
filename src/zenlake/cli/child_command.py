"""ChildCommand: a zenlake command in a child process, which ends with its parent.

The child is in another process group, so that Ctrl-C in a terminal reaches only the parent, which
ends its children in order. A child whose parent is gone sends itself SIGTERM.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

_LOOK_S: Final = 0.5


class ChildCommand:
    """A child process. `on_line` gets each line of its output; without it, the lines are shown.

    `variables` are added to its environment.
    """

    def __init__(
        self,
        name: str,
        options: list[str],
        on_line: Callable[[str], None] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        command = [sys.executable, "-m", "zenlake.cli.child_command", str(os.getpid())]
        self._process = subprocess.Popen(
            [*command, name, *options],
            stdin=subprocess.DEVNULL,
            stdout=None if on_line is None else subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **(variables or {})},
        )
        self._is_stopped = False
        self._reader: threading.Thread | None = None
        if on_line is not None:
            self._reader = threading.Thread(target=self._read, args=(on_line,), daemon=True)
            self._reader.start()

    def _read(self, on_line: Callable[[str], None]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            on_line(line)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    @property
    def is_failed(self) -> bool:
        """Whether the child ended with an error. A child that SIGTERM kills before it has a signal
        handler has not failed."""
        in_order = (0, -signal.SIGTERM) if self._is_stopped else (0,)
        return self.exit_code is not None and self.exit_code not in in_order

    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self, patience_s: float) -> bool:
        """Ends the child in order; returns False if it had to be killed."""
        if self.is_running():
            self._is_stopped = True
            self._process.terminate()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        if self._reader is not None:
            self._reader.join(patience_s)
        return True


def end_with_parent(parent: int) -> None:
    """Sends SIGTERM to this process when its parent is gone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="zenlake parent", daemon=True).start()


def run(arguments: list[str]) -> int:
    """Run in the child: the arguments are the parent's process number and a command."""
    from zenlake.cli.main import main

    end_with_parent(int(arguments[0]))
    return main(arguments[1:])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
