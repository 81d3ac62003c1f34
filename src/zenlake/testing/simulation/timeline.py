"""Timeline: virtual time and its events, in an order that depends on the seed only."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush


class Timeline:
    """A queue of actions; those of the same time run in the order in which they were queued."""

    def __init__(self) -> None:
        self.now = 0.0
        self.happened = 0
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._planned = 0

    def call_at(self, at: float, action: Callable[[], None]) -> None:
        self._planned += 1
        heappush(self._queue, (max(at, self.now), self._planned, action))

    def call_in(self, delay_s: float, action: Callable[[], None]) -> None:
        self.call_at(self.now + delay_s, action)

    def run_until(self, end: float) -> None:
        queue = self._queue
        while queue and queue[0][0] <= end:
            self.now, _, action = heappop(queue)
            self.happened += 1
            action()
        self.now = end
