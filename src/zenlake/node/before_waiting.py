"""Gathering: messages that wait for others to leave with them, while those who sent them run.

They need not wait for the clock where nothing more will come: a thread that is about to wait,
for an answer say, first sends what was gathered.
"""

from __future__ import annotations

from typing import Final, Protocol

from zenlake.forks import reset_after_fork
from zenlake.node.reader_handover import hand_over_reading


class UnflushedSender(Protocol):
    """Holds messages back for a moment."""

    def flush(self) -> None:
        """All there are, if nobody does; without any lock."""


UNFLUSHED_SENDERS: Final[list[UnflushedSender]] = []
"""Senders with unflushed messages, of all nodes of this process, each at most once."""
reset_after_fork(UNFLUSHED_SENDERS.clear)


def flush_senders() -> None:
    while UNFLUSHED_SENDERS:
        try:
            sender = UNFLUSHED_SENDERS.pop()
        except IndexError:  # another thread was quicker
            return
        sender.flush()


def before_waiting() -> None:
    """By any thread of ours or of the user, before it waits for something in here."""
    if UNFLUSHED_SENDERS:
        flush_senders()
    hand_over_reading()
