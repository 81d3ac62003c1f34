"""`Traffic`: messages and bytes of one direction of a session, by kind of network message."""

from __future__ import annotations

from typing import Final

from zenlake.wire import Declare, Interest, Push, Request, Response, ResponseFinal
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
"""Names of kinds, indexed by the last three bits of their ids (0x19 to 0x1F)."""

_INTEREST: Final = 1
_RESPONSE_FINAL: Final = 2
_RESPONSE: Final = 3
_REQUEST: Final = 4
_PUSH: Final = 5
_DECLARE: Final = 6
_OAM: Final = 7


class Traffic:
    """Two counters for each kind. The writer needs a lock; others may read at any time."""

    __slots__ = ("bytes", "messages")

    def __init__(self) -> None:
        self.messages = [0] * len(KIND_NAMES)
        self.bytes = [0] * len(KIND_NAMES)

    def count(self, data: bytes) -> None:
        """Count one encoded message."""
        kind = data[0] & 7
        self.messages[kind] += 1
        self.bytes[kind] += len(data)

    def count_more_pushes(self, count: int) -> None:
        """Count further publications in the bytes that were counted last."""
        self.messages[_PUSH] += count

    def count_read(self, messages: list[NetworkMessage], size: int) -> int:
        """Count the messages of one FRAME of `size` bytes; returns how many they are.

        The sizes of single messages are not known. Nearly all frames hold one kind; if a frame
        holds several, each message counts for an equal share.
        """
        pushes = responses = finals = requests = declares = interests = oams = 0
        for message in messages:
            if isinstance(message, Push):
                pushes += 1
            elif isinstance(message, PushRun):
                pushes += message.count
            elif isinstance(message, Response):
                responses += 1
            elif isinstance(message, ResponseFinal):
                finals += 1
            elif isinstance(message, Request):
                requests += 1
            elif isinstance(message, Declare):
                declares += 1
            elif isinstance(message, Interest):
                interests += 1
            else:
                oams += 1
        total = pushes + responses + finals + requests + declares + interests + oams
        self._add(_PUSH, pushes, total, size)
        self._add(_RESPONSE, responses, total, size)
        self._add(_RESPONSE_FINAL, finals, total, size)
        self._add(_REQUEST, requests, total, size)
        self._add(_DECLARE, declares, total, size)
        self._add(_INTEREST, interests, total, size)
        self._add(_OAM, oams, total, size)
        return total

    def _add(self, kind: int, count: int, total: int, size: int) -> None:
        """Add `count` messages of a kind out of `total` in `size` bytes."""
        if count:
            self.messages[kind] += count
            self.bytes[kind] += size if count == total else count * (size // total)

    def by_kind(self) -> dict[str, dict[str, int]]:
        """The counters of kinds that occurred."""
        return {
            KIND_NAMES[kind]: {"messages": count, "bytes": self.bytes[kind]}
            for kind, count in enumerate(self.messages)
            if count
        }
