"""A limit on the time that an engine takes, whoever reads its answer at leisure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final

_JOIN_S: Final = 1.0


class TimeLimit:
    """So many seconds of work in all; None for any."""

    def __init__(self, seconds: float | None) -> None:
        self.is_over = False
        self._left = seconds

    @contextmanager
    def watching(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """`interrupt` is called, from another thread, when what is done here takes too long."""
        if self._left is None:
            yield
            return

        def end() -> None:
            self.is_over = True
            interrupt()

        start = time.monotonic()
        timer = Timer(max(self._left, 0.0), end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join(_JOIN_S)  # or it might still hold what it interrupts when Python ends
            self._left -= time.monotonic() - start
