"""Errors of one link: before the session is open, and after.

Both are errors of the peer, not of our caller. During the handshake a CLOSE has the
reason, unless the peer ended the handshake; afterwards the link is dropped without a CLOSE (wire
reference §5.2).
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import ZenlakeError
from zenlake.protocol.delivery import Delivery
from zenlake.wire import Close, CloseReason

_KNOWN_CODES: Final = frozenset(int(reason) for reason in CloseReason)
NO_REASON: Final = "no reason given"
# Descriptions of the reasons in a CLOSE of the peer during the handshake.
_MEANINGS: Final = {
    CloseReason.GENERIC: NO_REASON,
    CloseReason.UNSUPPORTED: "not supported",
    CloseReason.INVALID: "it regards our messages as invalid",
    CloseReason.MAX_SESSIONS: "too many sessions",
    CloseReason.MAX_LINKS: "it has a link with this node already",
    CloseReason.EXPIRED: "expired",
    CloseReason.UNRESPONSIVE: "it regards this node as unresponsive",
    CloseReason.CONNECTION_TO_SELF: "it is this node itself",
}


class HandshakeError(ZenlakeError):
    """The handshake failed.

    `farewell` is the content of the batch to send before the link is shut down, or None.
    """

    def __init__(self, reason: CloseReason, cause: str, farewell: bytes | None) -> None:
        super().__init__(f"{cause} ({reason})")
        self.reason = reason
        self.cause = cause
        self.farewell = farewell


class AuthenticationError(HandshakeError):
    """The peer did not prove its identity; listeners count these failures (limits: H14)."""


class RefusedByPeer(HandshakeError):
    """The peer ended the handshake with a CLOSE."""


class TransportError(ZenlakeError):
    """An open session whose link must be dropped without CLOSE.

    `deliveries` holds the messages that were complete before the bad byte.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause
        self.deliveries: list[Delivery] = []


def refusal(reason: CloseReason, cause: str) -> HandshakeError:
    """The error with which this node ends the handshake; its CLOSE names the reason."""
    return HandshakeError(reason, cause, bytes(Close(int(reason))))


def unproven(cause: str) -> AuthenticationError:
    return AuthenticationError(CloseReason.GENERIC, cause, bytes(Close(CloseReason.GENERIC)))


def ended_by_peer(close: Close, is_echoed: bool) -> RefusedByPeer:
    """The peer ended the handshake; acceptors echo its CLOSE (wire reference §5.1)."""
    code = close.reason
    reason = CloseReason(code) if code in _KNOWN_CODES else CloseReason.GENERIC
    farewell = bytes(Close(code)) if is_echoed else None
    cause = _MEANINGS[reason] if code == reason else f"close reason {code}"
    return RefusedByPeer(reason, cause, farewell)
