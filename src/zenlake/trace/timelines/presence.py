"""Presence: why a declaration was not there at some moment, in words: it was gone, or came late.

The same sentences for the tables and for `zenlake why`, which adds packet numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from zenlake.trace.timelines.origins import L, Told, first_hand, given_up, sources

UNDECLARED, CLOSED, LOST, VANISHED = "undeclared", "closed", "lost", "vanished"
"""How a declaration ends; the last one where nothing tells."""


class Wording(NamedTuple):
    """How nodes, keys, times and places are written."""

    who: Callable[[str | None], str]
    key: Callable[[str | None], str]
    apart: Callable[[int], str]
    """Of nanoseconds."""
    declared_in: Callable[[Any], str] = lambda life: ""
    """In brackets, after a space: where a declaration, its end, a CLOSE or several ends are."""
    ended_in: Callable[[Any], str] = lambda life: ""
    closed_in: Callable[[str], str] = lambda session: ""
    all_ended_in: Callable[[Sequence[Any]], str] = lambda lives: ""


@dataclass(slots=True)
class Gone(Generic[L]):
    """A declaration that ended: from it back to the one that ended first, and how that did."""

    path: list[L]
    how: str
    culprit: str | None
    sentence: str
    kept_by: str | None = None
    """Who still declared it to the router that gave it up."""
    is_unseen: bool = False
    """Whether a router gave it up that had it from somebody who is not in the capture."""


def tell_gone(told: Told[L], life: L, time_ns: int, words: Wording) -> Gone[L]:
    """Of a declaration that had ended at that moment."""
    path = given_up(told, life)
    first = path[-1]
    made = Gone(path, *_ended(told, first, time_ns, words))
    relays = [one for one in reversed(path[:-1]) if one.ended_by == "undeclare"]
    if relays:
        names = _listed([words.who(one.sender) for one in relays])
        made.sentence += f"; {names} passed that on{words.all_ended_in(relays)}"
    if made.how == UNDECLARED and told.role(first.sender) == "router":
        _look_behind(told, first, made, words)
    return made


def _ended(told: Told[L], life: L, time_ns: int, words: Wording) -> tuple[str, str | None, str]:
    """How, by whom, and that as a sentence."""
    who, other = words.who(life.sender), words.who(life.receiver)
    what = f"the {life.entity} {words.key(life.key)} of {who}"
    when = "before" if life.ended_ns is None else f"{words.apart(time_ns - life.ended_ns)} before"
    place = words.ended_in(life)
    if life.ended_by == "undeclare":
        return UNDECLARED, life.sender, f"{what} was undeclared {when}{place}"
    if life.ended_by != "session":
        return VANISHED, life.sender, f"{what} was gone {when}"
    owner = first_hand(told, life)[-1]
    behind = "" if owner is life else f" (it had it from {words.who(owner.sender)})"
    closer = told.closer(life.session)
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


def _look_behind(told: Told[L], life: L, made: Gone[L], words: Wording) -> None:
    """A router has nothing of its own: somebody is behind it, or ought to be."""
    found = sources(told, life)
    still = [one for one in found if life.ended_ns is not None and one.is_alive(life.ended_ns)]
    if still:
        made.kept_by = still[0].sender
        made.sentence += f", although {words.who(made.kept_by)} still declared it to that router"
    elif not found:
        made.is_unseen = True
        router = words.who(life.sender)
        made.sentence += f"; who had declared it to {router} is not in the capture"


def tell_late(told: Told[L], life: L, time_ns: int, words: Wording) -> tuple[str, list[L]]:
    """Of a declaration that came after that moment, and its path to the first hand."""
    path = first_hand(told, life)
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
