"""`Follower`: the interface of followers, and the lines that they return."""

from __future__ import annotations

from typing import NamedTuple

from zenlake.trace.events import TraceEvent


class FollowerLine(NamedTuple):
    """An event with a note, or a note alone."""

    event: TraceEvent | None
    note: str = ""


class Follower:
    def feed(self, event: TraceEvent) -> list[FollowerLine]:
        """The lines to print now."""
        raise NotImplementedError

    def finish(self) -> list[FollowerLine]:
        """The remaining lines, at the end of the capture."""
        return []
