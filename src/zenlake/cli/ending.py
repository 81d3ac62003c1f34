"""Ending: how commands that run until SIGTERM or SIGINT wait for that signal."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Ending:
    """Waits for a signal; a second one ends the process immediately, by its default action."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.name = ""
        """The name of the signal, once one has come."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)

    def _handle(self, number: int, _frame: Any) -> None:
        self.name = signal.Signals(number).name
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait for a signal; returns whether one came. Call it in a loop: a signal that comes just
        before the thread blocks does not wake it."""
        return self._event.wait(seconds)
