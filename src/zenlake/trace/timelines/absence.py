"""Absence: sentences that explain why a declaration did not exist at some moment: ended, or late.

The tables and `zenlake why` use the same sentences; `why` adds packet numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from zenlake.trace.timelines.origins import (
    DeclarationIndex,
    L,
    path_to_first_end,
    path_to_origin,
    sources,
)

UNDECLARED, CLOSED, LOST, VANISHED = "undeclared", "closed", "lost", "vanished"
"""How a declaration ended; VANISHED if the capture does not show it."""


class Wording(NamedTuple):
    """How nodes, keys, durations and packets are written."""

    who: Callable[[str | None], str]
    key: Callable[[str | None], str]
    apart: Callable[[int], str]
    """Formats a duration in nanoseconds."""
    declared_in: Callable[[Any], str] = lambda declaration: ""
    """Formats the packets of a declaration, its end, a CLOSE or several ends, as ` (...)`."""
    ended_in: Callable[[Any], str] = lambda declaration: ""
    closed_in: Callable[[str], str] = lambda session: ""
    all_ended_in: Callable[[Sequence[Any]], str] = lambda declarations: ""


@dataclass(slots=True)
class Gone(Generic[L]):
    """Why a declaration ended: the path to the one that ended first, and how that one ended."""

    path: list[L]
    how: str
    culprit: str | None
    sentence: str
    kept_by: str | None = None
    """The neighbour that still declared it to the router that undeclared it."""
    is_unseen: bool = False
    """Whether a router undeclared it after relaying it from a node outside the capture."""


def describe_gone(
    announced: DeclarationIndex[L], declaration: L, time_ns: int, wording: Wording
) -> Gone[L]:
    """Explains why a declaration had ended at that moment."""
    path = path_to_first_end(announced, declaration)
    first = path[-1]
    made = Gone(path, *_ended(announced, first, time_ns, wording))
    relays = [one for one in reversed(path[:-1]) if one.ended_by == "undeclare"]
    if relays:
        names = _listed([wording.who(one.sender) for one in relays])
        made.sentence += f"; {names} passed that on{wording.all_ended_in(relays)}"
    if made.how == UNDECLARED and announced.role(first.sender) == "router":
        _look_behind(announced, first, made, wording)
    return made


def _ended(
    announced: DeclarationIndex[L], declaration: L, time_ns: int, wording: Wording
) -> tuple[str, str | None, str]:
    """How a declaration ended, which node ended it, and both as a sentence."""
    who, other = wording.who(declaration.sender), wording.who(declaration.receiver)
    what = f"the {declaration.entity} {wording.key(declaration.key)} of {who}"
    when = (
        "before"
        if declaration.ended_ns is None
        else f"{wording.apart(time_ns - declaration.ended_ns)} before"
    )
    place = wording.ended_in(declaration)
    if declaration.ended_by == "undeclare":
        return UNDECLARED, declaration.sender, f"{what} was undeclared {when}{place}"
    if declaration.ended_by != "session":
        return VANISHED, declaration.sender, f"{what} was gone {when}"
    owner = path_to_origin(announced, declaration)[-1]
    behind = "" if owner is declaration else f" (received from {wording.who(owner.sender)})"
    closer = announced.closer(declaration.session)
    if closer is not None:
        peer = other if closer == declaration.sender else who
        return (
            CLOSED,
            closer,
            f"{what}{behind} ended with its session: {wording.who(closer)} closed the session with "
            f"{peer} {when}{wording.closed_in(declaration.session)}",
        )
    lost = f"{what}{behind} ended with its session with {other}, which was lost {when}{place}"
    return LOST, declaration.sender, lost


def _look_behind(
    announced: DeclarationIndex[L], declaration: L, made: Gone[L], wording: Wording
) -> None:
    """Looks for the node behind a router: routers only relay declarations."""
    found = sources(announced, declaration)
    still = [
        one
        for one in found
        if declaration.ended_ns is not None and one.is_alive(declaration.ended_ns)
    ]
    if still:
        made.kept_by = still[0].sender
        made.sentence += f", although {wording.who(made.kept_by)} still declared it to that router"
    elif not found:
        made.is_unseen = True
        router = wording.who(declaration.sender)
        made.sentence += f"; who had declared it to {router} is not in the capture"


def describe_late(
    announced: DeclarationIndex[L], declaration: L, time_ns: int, wording: Wording
) -> tuple[str, list[L]]:
    """Explains a declaration that came after that moment; also returns its path to the origin."""
    path = path_to_origin(announced, declaration)
    first = path[-1]
    key = wording.key(declaration.key)
    if first.declared_ns > time_ns:
        late = wording.apart(first.declared_ns - time_ns)
        who = wording.who(first.sender)
        place = wording.declared_in(first)
        return f"{who} declared its {declaration.entity} {key} only {late} later{place}", path
    late = wording.apart(declaration.declared_ns - time_ns)
    what = f"the {declaration.entity} {key} of {wording.who(first.sender)}"
    sentence = (
        f"{wording.who(declaration.sender)} announced {what} to "
        f"{wording.who(declaration.receiver)} only {late} later{wording.declared_in(declaration)}"
    )
    return sentence, path


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
