"""A limit on the time that an engine takes, whoever reads its answer at leisure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import Final

from zenlake.lake.sql.bounded_process import give_up

_JOIN_S: Final = 1.0
_GRACE_S: Final = 2.0
"""For an engine to react to an interrupt."""


class TimeLimit:
    """So many seconds of work in all; None for any. To reach it may be no error."""

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
        """`interrupt` is called, from another thread, when what is done here takes too long.

        An engine that does not react ends with its process, where it has one of its own: DuckDB
        looks for interrupts between rows, not inside a function.
        """
        if self._left is None:
            yield
            return

        is_done = Event()

        def end() -> None:
            self.is_over = True
            interrupt()
            if not is_done.wait(_GRACE_S):
                give_up(self.cause if self._is_error else None)

        start = time.monotonic()
        timer = Timer(max(self._left, 0.0), end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            is_done.set()
            timer.cancel()
            timer.join(_JOIN_S)  # or it might still hold what it interrupts when Python ends
            self._left -= time.monotonic() - start
