"""Journal: the log of a run, and counts; a run that fails prints the last lines."""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

from zenlake.testing.simulation.timeline import Timeline

_LAST_LINES: Final = 60


class InvariantError(AssertionError):
    """An invariant does not hold."""


class Journal:
    """The last lines, or with `keeps_all` every line, and counts of faults and operations."""

    def __init__(self, timeline: Timeline, *, keeps_all: bool = False) -> None:
        self._timeline = timeline
        self._lines: deque[tuple[float, str, str, tuple[object, ...]]]
        self._lines = deque(maxlen=None if keeps_all else _LAST_LINES)
        self.counts: Counter[str] = Counter()

    def note(self, who: str, text: str, *details: object) -> None:
        """`text` has a %s for each detail; the line is formatted only when it is printed."""
        self._lines.append((self._timeline.now, who, text, details))

    def count(self, what: str) -> None:
        self.counts[what] += 1

    def lines(self) -> list[str]:
        return [
            f"{time:10.4f} {who:>9} {text % details if details else text}"
            for time, who, text, details in self._lines
        ]
