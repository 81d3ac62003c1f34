"""Programs of a network in processes of their own, which answer commands by lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
ANSWER_S = 180.0
"""Generous: the machine may be busy, and a client whose router is paused waits for it."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Program:
    """A module of this folder; ready when made. Answers are read by a thread, with a timeout."""

    def __init__(
        self, module: str, settings: dict[str, object], *arguments: str, python: str = ""
    ) -> None:
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        if python and python != sys.executable:
            del environment["PYTHONPATH"]  # the program has packages of its own
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `kill`)
        self._process = subprocess.Popen(
            [
                *(python or sys.executable, "-m", f"chaos.{module}", json.dumps(settings)),
                *arguments,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=_ROOT,
            env=environment,
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self.receive()
        except BaseException:
            self.kill()
            raise

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):
            for line in self._process.stdout:
                self._answers.put(line)
        self._answers.put("")

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def receive(self, wait_s: float = ANSWER_S) -> Any:
        try:
            line = self._answers.get(timeout=wait_s)
        except queue.Empty:
            self.signal(signal.SIGUSR1)
            time.sleep(1.0)
            raise RuntimeError(f"a program does not answer: {self._written()}") from None
        if not line:
            raise RuntimeError(f"a program ended: {self.traceback()}")
        return json.loads(line)

    def ask(self, *command: object, wait_s: float = ANSWER_S) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self.receive(wait_s)

    def resident_mib(self) -> float:
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * PAGE_BYTES / (1 << 20)

    def traceback(self) -> str:
        """The end of its error output, if that contains a traceback."""
        text = self._written()
        return text if "Traceback" in text else ""

    def _written(self) -> str:
        if self._errors.closed:
            return ""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-4000:]

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it by SIGKILL, without CLOSE."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._errors.close()
