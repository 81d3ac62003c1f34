"""`Traffic`: what went one way over a session, by kind of network message."""

from __future__ import annotations

from typing import Final

from zenlake.wire._generated.network import (
    Declare,
    Interest,
    Push,
    Request,
    Response,
    ResponseFinal,
)
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import PushRun

KIND_NAMES: Final = (
    "",
    "interest",
    "response_final",
    "response",
    "request",
    "push",
    "declare",
    "oam",
)
"""By the last three bits of their ids, 0x19 to 0x1F."""

_INTEREST: Final = 1
_RESPONSE_FINAL: Final = 2
_RESPONSE: Final = 3
_REQUEST: Final = 4
_PUSH: Final = 5
_DECLARE: Final = 6
_OAM: Final = 7


class Traffic:
    """Two counters for each kind. Whoever counts guards it; others may read it at any time."""

    __slots__ = ("bytes", "messages")

    def __init__(self) -> None:
        self.messages = [0] * len(KIND_NAMES)
        self.bytes = [0] * len(KIND_NAMES)

    def count(self, data: bytes) -> None:
        """One encoded message."""
        kind = data[0] & 7
        self.messages[kind] += 1
        self.bytes[kind] += len(data)

    def count_more_pushes(self, count: int) -> None:
        """Further ones in the bytes that were counted last."""
        self.messages[_PUSH] += count

    def count_read(self, messages: list[NetworkMessage], size: int) -> int:
        """The messages of one FRAME of so many bytes; says how many they are.

        The sizes of single messages are not known. Nearly all frames hold one kind; where they
        hold more, each message gets an equal share.
        """
        pushes = 0
        others = 0
        for message in messages:
            if isinstance(message, Push):
                pushes += 1
            elif isinstance(message, PushRun):
                pushes += message.count
            else:
                others += 1
        self.messages[_PUSH] += pushes
        total = pushes + others
        if others == 0:
            self.bytes[_PUSH] += size
            return total
        for message in messages:
            if not isinstance(message, Push | PushRun):
                kind = _kind_of(message)
                self.messages[kind] += 1
                self.bytes[kind] += size // total
        self.bytes[_PUSH] += pushes * (size // total)
        return total

    def by_kind(self) -> dict[str, dict[str, int]]:
        """The kinds there were."""
        return {
            KIND_NAMES[kind]: {"messages": count, "bytes": self.bytes[kind]}
            for kind, count in enumerate(self.messages)
            if count
        }


def _kind_of(message: NetworkMessage) -> int:
    if isinstance(message, Declare):
        return _DECLARE
    if isinstance(message, Response):
        return _RESPONSE
    if isinstance(message, ResponseFinal):
        return _RESPONSE_FINAL
    if isinstance(message, Request):
        return _REQUEST
    if isinstance(message, Interest):
        return _INTEREST
    return _OAM
