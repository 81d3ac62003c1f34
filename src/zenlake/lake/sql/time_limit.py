"""TimeLimit: limits the time that an engine works, without the time to read its rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import Final

from zenlake.lake.sql.bounded_process import end_child_process

_JOIN_S: Final = 1.0
_GRACE_S: Final = 2.0
"""Time for an engine to react to an interrupt."""


class TimeLimit:
    """The seconds that an engine may work, or None. Exceeding them is an error if `is_error`."""

    def __init__(self, seconds: float | None, is_error: bool = True) -> None:
        self._is_error = is_error
        self.is_over = False
        self._seconds = seconds
        self._left = seconds

    @property
    def cause(self) -> str:
        return f"it took longer than {self._seconds:g} s and was ended"

    @contextmanager
    def watching(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Calls `interrupt` from another thread when the work inside takes too long.

        If the engine does not react, its process is ended, if it has one of its own: DuckDB checks
        for interrupts between rows, not inside a function.
        """
        if self._left is None:
            yield
            return

        is_done = Event()

        def end() -> None:
            self.is_over = True
            interrupt()
            if not is_done.wait(_GRACE_S):
                end_child_process(self.cause if self._is_error else None)

        start = time.monotonic()
        timer = Timer(max(self._left, 0.0), end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            is_done.set()
            timer.cancel()
            timer.join(_JOIN_S)  # otherwise it might still hold the engine when Python exits
            self._left -= time.monotonic() - start
