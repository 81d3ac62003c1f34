"""NodeActivity: state of a node that threads of other nodes use before they wait."""

from __future__ import annotations

from typing import Protocol


class UnflushedSender(Protocol):
    """Holds messages back for a moment, so that more of them leave in one batch."""

    def flush(self) -> None:
        """Send all of them, unless another thread does; without any lock."""


class Reader(Protocol):
    """Reads a link, or runs a callback since `callback_since`; 0 while it reads."""

    callback_since: float

    def hand_over(self) -> None:
        """Start another reader, if this one still runs a callback."""


class NodeActivity:
    """Both are used without a lock: each single operation on a dict or list is atomic."""

    __slots__ = ("readers_in_callbacks", "unflushed_senders")

    def __init__(self) -> None:
        self.readers_in_callbacks: dict[int, Reader] = {}
        """By thread."""

        self.unflushed_senders: list[UnflushedSender] = []
        """Senders that hold messages back, each at most once."""

    def clear(self) -> None:
        self.readers_in_callbacks.clear()
        self.unflushed_senders.clear()
