"""Fault: how to break one rule, and in which packet the checker must find it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.rules.legal_session import LegalSession

Break = Callable[[Any], int]


class Fault(NamedTuple):
    """`break_rule` gets a session, a group or a recorder and returns the packet of the fault."""

    rule: str
    break_rule: Break
    options: dict[str, Any]
    where: str
    """`session` (open), `handshake` (not yet open), `group` or `scouting`."""
    also: tuple[str, ...]
    """Rules that are necessarily broken too."""
    ends: bool
    """Whether the session cannot continue after the fault."""


FAULTS: dict[str, list[Fault]] = {}


def fault(
    rule: str,
    where: str = "session",
    also: tuple[str, ...] = (),
    ends: bool = False,
    **options: Any,
) -> Callable[[Break], Break]:
    def register(function: Break) -> Break:
        FAULTS.setdefault(rule, []).append(Fault(rule, function, options, where, also, ends))
        return function

    return register


def up_side(session: LegalSession) -> int:
    """A side that may declare entities without an interest of the other side."""
    side = session.side()
    return 1 - side if session.is_higher(side) else side


def asking_side(session: LegalSession) -> int:
    side = session.interested_side()
    assert side is not None, "a pair in which nobody asks"
    return side


def send_bytes(session: LegalSession, side: int, data: bytes) -> int:
    """Send the bytes of a network message on the reliable channel of priority 5."""
    if not session.lowlatency:
        frame = session.frame(side, [])
        data = bytes(frame) + data
    return session.unit(side, data)
