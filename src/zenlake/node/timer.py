"""Timer: a thread that calls a function at the earliest of some deadlines.

A node has two: one for its links, which nothing delays, and one for routing and sessions, which may
run callbacks of users.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from math import inf
from typing import Final

from zenlake.node.threads import ThreadOwner

log = logging.getLogger("zenlake.node")

# The shortest sleep: a wrong deadline must not make the thread spin.
_PAUSE_S: Final = 0.001
# The longest sleep; locks take no infinite timeout.
_SLEEP_S: Final = 3600.0
# The deadline for which the thread was woken may be gone when it runs: that of a query that was
# answered at once. It then sleeps only this long, so that the next query need not wake it.
_NAP_S: Final = 1.0


class Timer(ThreadOwner):
    """Sleeps until the deadline that it asks for, then calls `handle_timeout`.

    `armed` is when it will wake. A thread that sets an earlier deadline calls `wake`.
    """

    def __init__(
        self,
        name: str,
        next_deadline: Callable[[], float],
        handle_timeout: Callable[[float], None],
    ) -> None:
        super().__init__(f"zenlake {name}")
        self._next_deadline = next_deadline
        self._handle_timeout = handle_timeout
        # Held while no deadline is new. A condition variable would have a lock, for which a
        # finalizer, which may interrupt any code of ours, must not wait.
        self._quiet = threading.Lock()
        self._quiet.acquire()
        self._is_closed = False
        self.armed = -inf

    def wake(self) -> None:
        """Make the timer read its deadlines anew. Any thread may call it, finalizers too."""
        self.armed = -inf  # needs no other call of `wake` until the thread has read its deadlines
        # Released already: another thread woke it.
        with contextlib.suppress(RuntimeError):
            self._quiet.release()

    def close(self) -> None:
        self._is_closed = True
        self.wake()

    def _run(self) -> None:
        was_woken = False
        while True:
            self.armed = inf  # deadlines made while it looks for the earliest wake it
            deadline = self._earliest()
            now = time.monotonic()
            if was_woken:
                deadline = min(deadline, now + _NAP_S)
            self.armed = deadline
            was_woken = self._quiet.acquire(timeout=min(max(deadline - now, _PAUSE_S), _SLEEP_S))
            self.armed = -inf
            if self._is_closed:
                return
            try:
                self._handle_timeout(time.monotonic())
            except Exception:  # it must still serve the leases and keep-alives of all other links
                log.exception("a timer failed")

    def _earliest(self) -> float:
        try:
            return self._next_deadline()
        except Exception:
            log.exception("a deadline failed")
            return time.monotonic() + 1
