"""Fault: how to break one rule, and where a checker must say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.rules.chat import Chat

Break = Callable[[Any], int]


class Fault(NamedTuple):
    """`break_rule` gets a chat, a group or a recorder and gives the packet of the fault."""

    rule: str
    break_rule: Break
    options: dict[str, Any]
    where: str
    """`chat` (open), `handshake` (not yet open), `group` or `scouting`."""
    also: tuple[str, ...]
    """Rules that cannot but be broken with it."""
    ends: bool
    """Whether the session cannot go on."""


FAULTS: dict[str, list[Fault]] = {}


def fault(
    rule: str,
    where: str = "chat",
    also: tuple[str, ...] = (),
    ends: bool = False,
    **options: Any,
) -> Callable[[Break], Break]:
    def register(function: Break) -> Break:
        FAULTS.setdefault(rule, []).append(Fault(rule, function, options, where, also, ends))
        return function

    return register


def up_side(chat: Chat) -> int:
    """A side that may declare what nobody asked for."""
    side = chat.side()
    return 1 - side if chat.goes_down(side) else side


def asking_side(chat: Chat) -> int:
    side = chat.asker()
    assert side is not None, "a pair in which nobody asks"
    return side


def send_bytes(chat: Chat, side: int, data: bytes) -> int:
    """A network message as bytes, on the reliable channel of priority 5."""
    if not chat.lowlatency:
        frame = chat.frame(side, [])
        data = bytes(frame) + data
    return chat.unit(side, data)
