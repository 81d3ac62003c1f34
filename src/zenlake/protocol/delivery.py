"""Delivery: network messages that arrived together, in the order in which they were sent."""

from __future__ import annotations

from zenlake._mypyc import mypyc_attr
from zenlake.wire.message import NetworkMessage


@mypyc_attr(acyclic=True)
class Delivery:
    """The messages of one FRAME, or one message reassembled from fragments."""

    __slots__ = ("messages", "reliable")

    def __init__(self, messages: list[NetworkMessage], reliable: bool) -> None:
        self.messages = messages
        self.reliable = reliable

    def __repr__(self) -> str:
        return f"Delivery({self.messages!r}, reliable={self.reliable})"
