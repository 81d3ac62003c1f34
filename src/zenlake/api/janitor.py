"""Janitor: finishes queries whose objects were lost, as soon as they are.

Programs often let the last reference go where they should call `drop`. Their queriers wait for
the end all the same. A finalizer may run anywhere, also under the node's lock, and a
`SimpleQueue` is the one thing it may always put something into.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue


class Janitor:
    """A thread that sweeps when it is told to; a daemon, and it ends with the session."""

    def __init__(self, sweep: Callable[[], None]) -> None:
        self._sweep = sweep
        self._told: SimpleQueue[bool] = SimpleQueue()
        threading.Thread(target=self._run, name="zenlake janitor", daemon=True).start()

    def tell(self) -> None:
        """Something was lost. By finalizers too."""
        self._told.put(True)

    def close(self) -> None:
        self._told.put(False)

    def _run(self) -> None:
        while self._told.get():
            self._sweep()
