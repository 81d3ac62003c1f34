"""Gathering: messages that wait for others to leave with them, while those who sent them run.

They need not wait for the clock where nothing more will come: a thread that is about to wait,
for an answer say, first sends what was gathered.
"""

from __future__ import annotations

from typing import Final, Protocol

from zenlake.forks import reset_after_fork
from zenlake.node.relief import relieve_this_thread


class Gatherer(Protocol):
    """Holds messages back for a moment."""

    def send_gathered(self) -> None:
        """All there are, if nobody does; without any lock."""


GATHERING: Final[list[Gatherer]] = []
"""Senders with unflushed messages, of all nodes of this process, each at most once."""
reset_after_fork(GATHERING.clear)


def send_gathered() -> None:
    while GATHERING:
        try:
            gatherer = GATHERING.pop()
        except IndexError:  # another thread was quicker
            return
        gatherer.send_gathered()


def before_waiting() -> None:
    """By any thread of ours or of the user, before it waits for something in here."""
    if GATHERING:
        send_gathered()
    relieve_this_thread()
