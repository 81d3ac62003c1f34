"""Timer: a thread that wakes machines when their time has come.

A node has two: one for its links, which nobody can hold up, and one for routing and sessions,
at whose end stand callbacks of users.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from math import inf
from typing import Final

from zenlake.node.threads import join_thread

log = logging.getLogger("zenlake")

# However wrong a deadline is, the thread does not spin.
_PAUSE_S: Final = 0.001


class Timer:
    """Sleeps until the deadline that it asks for, then calls `handle_timeout`.

    `armed` is when it will wake. Whoever makes an earlier deadline calls `wake`.
    """

    def __init__(
        self,
        name: str,
        next_deadline: Callable[[], float],
        handle_timeout: Callable[[float], None],
    ) -> None:
        self._next_deadline = next_deadline
        self._handle_timeout = handle_timeout
        self._changed = threading.Condition(threading.Lock())
        self._is_closed = False
        self._is_woken = False
        self.armed = -inf
        self._thread = threading.Thread(target=self._run, name=f"zenlake {name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """A deadline may be earlier than it was."""
        with self._changed:
            self._is_woken = True
            self.armed = -inf  # it looks by itself soon enough
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def join(self, timeout_s: float) -> None:
        join_thread(self._thread, timeout_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._is_woken = False
            deadline = self._earliest()
            with self._changed:
                if not self._is_woken and not self._is_closed:
                    self.armed = deadline
                    left = deadline - time.monotonic()
                    self._changed.wait(None if left == inf else max(left, _PAUSE_S))
                self.armed = -inf
                if self._is_closed:
                    return
            try:
                self._handle_timeout(time.monotonic())
            except Exception:  # leases and keep-alives of all others must go on
                log.exception("a timer failed")

    def _earliest(self) -> float:
        try:
            return self._next_deadline()
        except Exception:
            log.exception("a deadline failed")
            return time.monotonic() + 1
