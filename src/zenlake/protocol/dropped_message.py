"""`DroppedMessage`: what is known of a message in fragments that exceeded a limit."""

from __future__ import annotations

from typing import Final

from zenlake.wire.headers import (
    HAS_SUFFIX,
    ID_BITS,
    IS_SENDERS_KEY,
    PUSH_ID,
    REQUEST_ID,
    RESPONSE_ID,
)
from zenlake.wire.primitives import Malformed, read_text_z16, read_z16, read_z32
from zenlake.wire.values.wire_expr import WireExpr

HEAD_BYTES: Final = 4_200
"""How many bytes of the message are kept to read its key, which has at most 4,096 bytes."""


class DroppedMessage:
    """The first bytes of a message, its size as far as received, and the key of the limit."""

    __slots__ = ("head", "is_whole", "limit", "limit_key", "size")

    def __init__(self, head: bytes, limit_key: str, limit: int) -> None:
        self.head = head
        self.limit_key = limit_key
        self.limit = limit
        self.size = 0
        self.is_whole = False
        """Whether its last fragment was received, so that `size` is the size of the message."""

    def key(self) -> WireExpr | None:
        """The key as the peer wrote it, perhaps with an alias; None if it cannot be read."""
        head = self.head
        end = len(head)
        try:
            header = head[0]
            pos = 1
            kind = header & ID_BITS
            if kind in (REQUEST_ID, RESPONSE_ID):
                _, pos = read_z32(head, pos, end)
            elif kind != PUSH_ID:
                return None
            scope, pos = read_z16(head, pos, end)
            suffix = ""
            if header & HAS_SUFFIX:
                suffix, pos = read_text_z16(head, pos, end)
        except (IndexError, Malformed, UnicodeDecodeError):
            return None
        return WireExpr(scope, suffix, header & IS_SENDERS_KEY != 0)

    def text(self, key: str | None) -> str:
        """The warning about it."""
        about = "an unknown key" if key is None else f"`{key}`"
        least = "" if self.is_whole else "at least "
        return (
            f"dropped a message on {about} of {least}{self.size} bytes: "
            f"{self.limit_key} is {self.limit}"
        )
