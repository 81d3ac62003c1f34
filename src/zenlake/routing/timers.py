"""`Timers`: deadlines of objects that may end earlier."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from zenlake._mypyc import mypyc_attr

_ENDED_FREE: Final = 64
"""So many timers that ended early may stay in the heap before all such timers are removed."""


TIMERS_PER_SLICE: Final = 64
"""The number of timers that one call ends, as each may cause two messages."""


@mypyc_attr(acyclic=True)
class Deadline:
    """Something with a deadline; `Timers.cancel` ends it."""

    __slots__ = ("deadline", "is_ended")

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.is_ended = False


class Timers:
    """A heap; a timer that ended early stays in it for a while, so that ending is cheap."""

    __slots__ = ("_count", "_heap", "_open")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Deadline]] = []
        self._count = 0
        self._open = 0

    def __len__(self) -> int:
        return self._open

    def start(self, timer: Deadline) -> None:
        self._count += 1
        self._open += 1
        heappush(self._heap, (timer.deadline, self._count, timer))

    def cancel(self, timer: Deadline) -> None:
        """Cancel a timer; may be called twice."""
        if timer.is_ended:
            return
        timer.is_ended = True
        self._open -= 1
        if self._open == 0:
            self._heap.clear()
        elif len(self._heap) > 2 * self._open + _ENDED_FREE:
            self._heap = [entry for entry in self._heap if not entry[2].is_ended]
            heapify(self._heap)

    def close(self) -> list[Deadline]:
        """Cancel all timers and return those that had not ended."""
        left = [entry[2] for entry in self._heap if not entry[2].is_ended]
        self._heap.clear()
        self._open = 0
        return left

    def next_deadline(self) -> float | None:
        heap = self._heap
        while heap and heap[0][2].is_ended:
            heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: float, count_max: int) -> list[Deadline]:
        """The timers whose time has come, in order, at most so many; they are ended by this.

        The others stay due, which `next_deadline` shows.
        """
        due: list[Deadline] = []
        heap = self._heap
        while heap and heap[0][0] <= now and len(due) < count_max:
            timer = heappop(heap)[2]
            if not timer.is_ended:
                timer.is_ended = True
                self._open -= 1
                due.append(timer)
        return due
