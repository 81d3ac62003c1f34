"""Absence: sentences that say why a declaration was not there at some moment: ended, or late.

The tables and `zenlake why` use the same sentences; `why` adds packet numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from zenlake.trace.timelines.origins import Announced, L, path_to_first_end, path_to_origin, sources

UNDECLARED, CLOSED, LOST, VANISHED = "undeclared", "closed", "lost", "vanished"
"""How a declaration ended; VANISHED if the capture does not show it."""


class Wording(NamedTuple):
    """How nodes, keys, durations and packets are written."""

    who: Callable[[str | None], str]
    key: Callable[[str | None], str]
    apart: Callable[[int], str]
    """A duration, from nanoseconds."""
    declared_in: Callable[[Any], str] = lambda life: ""
    """The packets of a declaration, its end, a CLOSE or several ends: a space, then in brackets."""
    ended_in: Callable[[Any], str] = lambda life: ""
    closed_in: Callable[[str], str] = lambda session: ""
    all_ended_in: Callable[[Sequence[Any]], str] = lambda lives: ""


@dataclass(slots=True)
class Gone(Generic[L]):
    """Why a declaration ended: the path to the one that ended first, and how that one ended."""

    path: list[L]
    how: str
    culprit: str | None
    sentence: str
    kept_by: str | None = None
    """The node that still declared it to the router that undeclared it."""
    is_unseen: bool = False
    """Whether a router undeclared it that relayed it from a node outside the capture."""


def describe_gone(announced: Announced[L], life: L, time_ns: int, words: Wording) -> Gone[L]:
    """Explains a declaration that had ended at that moment."""
    path = path_to_first_end(announced, life)
    first = path[-1]
    made = Gone(path, *_ended(announced, first, time_ns, words))
    relays = [one for one in reversed(path[:-1]) if one.ended_by == "undeclare"]
    if relays:
        names = _listed([words.who(one.sender) for one in relays])
        made.sentence += f"; {names} passed that on{words.all_ended_in(relays)}"
    if made.how == UNDECLARED and announced.role(first.sender) == "router":
        _look_behind(announced, first, made, words)
    return made


def _ended(
    announced: Announced[L], life: L, time_ns: int, words: Wording
) -> tuple[str, str | None, str]:
    """How it ended, which node ended it, and both as a sentence."""
    who, other = words.who(life.sender), words.who(life.receiver)
    what = f"the {life.entity} {words.key(life.key)} of {who}"
    when = "before" if life.ended_ns is None else f"{words.apart(time_ns - life.ended_ns)} before"
    place = words.ended_in(life)
    if life.ended_by == "undeclare":
        return UNDECLARED, life.sender, f"{what} was undeclared {when}{place}"
    if life.ended_by != "session":
        return VANISHED, life.sender, f"{what} was gone {when}"
    owner = path_to_origin(announced, life)[-1]
    behind = "" if owner is life else f" (it had it from {words.who(owner.sender)})"
    closer = announced.closer(life.session)
    if closer is not None:
        peer = other if closer == life.sender else who
        return (
            CLOSED,
            closer,
            f"{what}{behind} went with its session: {words.who(closer)} closed that with {peer} "
            f"{when}{words.closed_in(life.session)}",
        )
    lost = f"{what}{behind} went with its session with {other}, which was lost {when}{place}"
    return LOST, life.sender, lost


def _look_behind(announced: Announced[L], life: L, made: Gone[L], words: Wording) -> None:
    """Looks for the node behind a router: routers only relay declarations."""
    found = sources(announced, life)
    still = [one for one in found if life.ended_ns is not None and one.is_alive(life.ended_ns)]
    if still:
        made.kept_by = still[0].sender
        made.sentence += f", although {words.who(made.kept_by)} still declared it to that router"
    elif not found:
        made.is_unseen = True
        router = words.who(life.sender)
        made.sentence += f"; who had declared it to {router} is not in the capture"


def describe_late(
    announced: Announced[L], life: L, time_ns: int, words: Wording
) -> tuple[str, list[L]]:
    """Explains a declaration that came after that moment; also returns its path to the origin."""
    path = path_to_origin(announced, life)
    first = path[-1]
    key = words.key(life.key)
    if first.declared_ns > time_ns:
        late = words.apart(first.declared_ns - time_ns)
        who = words.who(first.sender)
        place = words.declared_in(first)
        return f"{who} declared its {life.entity} {key} only {late} later{place}", path
    late = words.apart(life.declared_ns - time_ns)
    sentence = (
        f"{words.who(life.sender)} told {words.who(life.receiver)} only {late} later"
        f"{words.declared_in(life)} of the {life.entity} {key} of {words.who(first.sender)}"
    )
    return sentence, path


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
