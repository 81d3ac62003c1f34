"""LinkTap: receives every batch of a link, for recordings.

The threads that read and send call it, so it must return at once and never raise.
"""

from __future__ import annotations

from typing import Protocol

from zenlake.wire import Frame, Push
from zenlake.wire.message import NetworkMessage, TransportMessage
from zenlake.wire.push_run import PushRun


class LinkTap(Protocol):
    """One link. `received` and `sent` may be called at the same time."""

    def received(self, batch: bytes, is_plain: bool) -> None:
        """A batch of the other side, without its length prefix, before it is decompressed.

        `is_plain` if it is one FRAME of nothing but publications.
        """

    def sent(self, unit: bytes, is_plain: bool) -> None:
        """A batch for the other side as the link carries it: on a stream with its length."""

    def close(self) -> None:
        """The link is over. It may be called more than once."""


class GroupTap(Protocol):
    """A multicast group; called by one thread at a time."""

    def sender(self, source: str) -> LinkTap:
        """The tap of the datagrams from an address; only `received` is called."""


def is_plain_batch(messages: list[TransportMessage]) -> bool:
    """Whether a batch is one FRAME with nothing but publications."""
    if len(messages) != 1:
        return False
    frame = messages[0]
    return isinstance(frame, Frame) and has_only_publications(frame.messages)


def has_only_publications(messages: list[NetworkMessage]) -> bool:
    for message in messages:  # compiled, a loop is faster than a generator
        if not isinstance(message, PushRun) and not isinstance(message, Push):
            return False
    return True
