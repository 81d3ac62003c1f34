"""QueueBudget: how many bytes may wait for slow links, in all queues of a node together.

Each queue has limits of its own, counted in batches. What goes beyond them is charged here: large
messages, and messages that are kept although their queue is full.
"""

from __future__ import annotations

import threading


class QueueBudget:
    """The bytes that wait in the queues of all links; each sender uses it under its own lock."""

    __slots__ = ("_lock", "held_bytes", "limit_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.held_bytes = 0
        self._lock = threading.Lock()

    def reserve(self, size: int) -> bool:
        """Reserve `size` bytes if there is room; any size fits if nothing is reserved."""
        with self._lock:
            if self.held_bytes > 0 and self.held_bytes + size > self.limit_bytes:
                return False
            self.held_bytes += size
            return True

    def release(self, size: int) -> None:
        with self._lock:
            self.held_bytes -= size
