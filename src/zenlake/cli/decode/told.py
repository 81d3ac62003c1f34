"""Told: what a follower has to say; Follower: what all of them do."""

from __future__ import annotations

from typing import NamedTuple

from zenlake.trace.events import TraceEvent


class Told(NamedTuple):
    """An event with a note at its end, or, without an event, a sentence of its own."""

    event: TraceEvent | None
    note: str = ""


class Follower:
    def feed(self, event: TraceEvent) -> list[Told]:
        """What is to be told now."""
        raise NotImplementedError

    def finish(self) -> list[Told]:
        """What is left when the capture ends."""
        raise NotImplementedError
