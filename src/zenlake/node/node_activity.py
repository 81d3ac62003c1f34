"""NodeActivity: state of a node that threads of other nodes use before they wait."""

from __future__ import annotations

from typing import Protocol


class UnflushedSender(Protocol):
    """A sender that holds messages back for a moment, so that more of them leave in one batch."""

    def flush(self) -> None:
        """Send all of them, unless another thread does; called without any lock."""


class CallbackReader(Protocol):
    """A thread that reads a link; since `callback_since`, if that is not 0, it runs a callback."""

    callback_since: float

    def hand_over(self) -> None:
        """Start another reader, if this one still runs a callback."""


class NodeActivity:
    """Two collections that need no lock: each operation on a dict or list is atomic."""

    __slots__ = ("readers_in_callbacks", "unflushed_senders")

    def __init__(self) -> None:
        self.readers_in_callbacks: dict[int, CallbackReader] = {}
        """The readers whose thread runs a callback, by the id of the thread."""

        self.unflushed_senders: list[UnflushedSender] = []
        """Senders that hold messages back, each at most once."""

    def clear(self) -> None:
        self.readers_in_callbacks.clear()
        self.unflushed_senders.clear()
