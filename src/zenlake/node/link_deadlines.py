"""LinkDeadlines: when the timer must next check each of many links.

Every message moves the deadline of a link, always to a later time. The heap is not updated then: a
link is checked at its old deadline, and added again with its current one.

Links that are over are removed from time to time, and not only at their deadline: each of them
keeps more than a hundred objects alive, and Python's garbage collector, which stops all threads,
would visit those of all links that came and went in the last seconds.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zenlake.node.link_runner import LinkRunner

# A link is checked so often even if its deadline is later: it may have received a fragment of a
# message, which is dropped some time after.
_LOOK_S: Final = 5.0

_ENTRIES_MIN: Final = 16
"""The number of entries from which on links that are over are removed before their deadline."""


class LinkDeadlines:
    """A heap of deadlines; the caller holds a lock."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, LinkRunner]] = []
        self._count = 0  # orders entries with equal deadlines
        self._entries_max = _ENTRIES_MIN  # at this size, links that are over are removed

    def add(self, runner: LinkRunner, now: float) -> None:
        self._count += 1
        deadline = min(runner.next_deadline(), now + _LOOK_S)
        heappush(self._heap, (deadline, self._count, runner))
        if len(self._heap) >= self._entries_max:
            self._heap = [entry for entry in self._heap if not entry[2].is_over]
            heapify(self._heap)
            self._entries_max = max(_ENTRIES_MIN, 2 * len(self._heap))

    def __len__(self) -> int:
        return len(self._heap)

    def next_deadline(self) -> float:
        return self._heap[0][0] if self._heap else inf

    def pop_due(self, now: float) -> list[LinkRunner]:
        """Links that need `handle_timeout` now; `add` them again afterwards."""
        due: list[LinkRunner] = []
        while self._heap and self._heap[0][0] <= now:
            runner = heappop(self._heap)[2]
            if runner.is_over:
                continue
            if runner.next_deadline() <= now:
                due.append(runner)
            else:
                self.add(runner, now)
        return due
