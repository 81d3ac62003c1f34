"""Origins: who declared first what a node tells on, and who gave it up first.

A router tells others what it was told: its declaration stands on those of its neighbours, down to
the node whose application made it. So does its end. Between routers, what came from a third one
also ends when that router is gone: link state says so, and nobody undeclares it (behaviour
reference §4.7).

`zenlake why` asks this of all declarations of a capture, the tables of queryables alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

_GRACE_NS: Final = 1_000_000_000
"""News needs a moment on its way; what ends later than that ends for another reason."""
_UNSURE_NS: Final = 50_000_000
"""When exactly a session is lost, each side notices for itself."""
_HOPS_MAX: Final = 64


class Life(Protocol):
    """What one node told another of an entity, and for how long it did."""

    @property
    def entity(self) -> str: ...
    @property
    def key(self) -> str | None: ...
    @property
    def sender(self) -> str | None: ...
    @property
    def receiver(self) -> str | None: ...
    @property
    def session(self) -> str: ...
    @property
    def node_id(self) -> int | None: ...
    @property
    def declared_ns(self) -> int: ...
    @property
    def ended_ns(self) -> int | None: ...
    @property
    def ended_by(self) -> str | None: ...
    def is_alive(self, time_ns: int) -> bool: ...
    def end_with_router(self, time_ns: int) -> None: ...


L = TypeVar("L", bound=Life)
L_co = TypeVar("L_co", bound=Life, covariant=True)


class Told(Protocol[L_co]):
    """All that nodes told each other in one capture."""

    def role(self, zid: str | None) -> str | None: ...
    def told_of(self, zid: str, entity: str, key: str) -> Sequence[L_co]:
        """What a node was told of exactly this key."""

    def told_matching(self, zid: str, entity: str, key: str) -> Sequence[L_co]:
        """What a node was told of keys that this one intersects."""

    def closer(self, session: str) -> str | None:
        """Who closed it by CLOSE; None if nobody did."""

    def leaver(self, session: str) -> str | None:
        """Who ended it without being forced to; None if the other side was silent, or nobody."""


def sources(told: Told[L], life: L) -> list[L]:
    """What the sender of a declaration was told itself, by others than who is told now."""
    if life.key is None or life.sender is None:
        return []
    exact = told.told_of(life.sender, life.entity, life.key)
    found = [one for one in exact if one.sender != life.receiver and one is not life]
    if told.role(life.sender) != "router" or told.role(life.receiver) != "router":
        # A node sums up for a neighbour that asked for one key (behaviour reference §3.6).
        return found or [
            one
            for one in told.told_matching(life.sender, life.entity, life.key)
            if one.sender != life.receiver
        ]
    # NodeId 0 is what comes from the router's own neighbours, another is a router's behind it.
    is_relayed = bool(life.node_id)
    return [one for one in found if (told.role(one.sender) == "router") == is_relayed]


def is_behind_hidden_router(told: Told[L], life: L) -> bool:
    """Whether a router has it from another one whose link is not in the capture.

    When that one goes, only link state says so: the declaration may be void.
    """
    return bool(life.node_id) and not sources(told, life)


def first_hand(told: Told[L], life: L) -> list[L]:
    """From a declaration back to the one that it began with, the earliest that is seen."""
    path = [life]
    while len(path) < _HOPS_MAX:
        at_ns = path[-1].declared_ns
        earlier = [
            one
            for one in sources(told, path[-1])
            if _is_new(one, path) and (not at_ns or one.declared_ns <= at_ns)
        ]
        if not earlier:
            return path
        path.append(min(earlier, key=lambda one: (one.declared_ns, one.sender or "")))
    return path


def given_up(told: Told[L], life: L) -> list[L]:
    """From a declaration that ended back to the end that was the first of all.

    It ends with a node that gave it up by itself, with a session that ended, or where a node gave
    it up although another still told it so.
    """
    path = [life]
    while len(path) < _HOPS_MAX:
        last = path[-1]
        if last.ended_ns is None or last.ended_by == "session":
            return path
        until_ns = last.ended_ns
        found = [one for one in sources(told, last) if _is_new(one, path)]
        ended = [
            one
            for one in found
            if one.ended_ns is not None and one.ended_ns <= until_ns + _UNSURE_NS
        ]
        if not ended or any(one.is_alive(until_ns + _GRACE_NS) for one in found):
            return path
        path.append(max(ended, key=lambda one: (one.ended_ns or 0, one.sender or "")))
    return path


def _last_end(found: list[L]) -> int | None:
    """When the last of those went that told of it; None where one is still there."""
    ends = [one.ended_ns for one in found if one.ended_by in ("session", "router")]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(found) else None


def _ends_too(told: Told[L], life: L, end_ns: int) -> bool:
    """Whether its own session ended as well: who is in the middle went, and with it both.

    Not if the receiver left that session: it went by itself, a moment after the router behind.
    """
    if life.ended_ns is None or life.ended_ns > end_ns + _GRACE_NS:
        return False
    return life.receiver is None or told.leaver(life.session) != life.receiver


def _is_new(life: L, path: list[L]) -> bool:
    return all(one is not life for one in path)


def end_with_their_routers(told: Told[L], lives: Iterable[L]) -> None:
    """Declarations that came from a router which is gone: they end as it goes.

    Only where every neighbour that told of it is gone: then no other way to it is seen.
    """
    relayed = [
        life
        for life in lives
        if life.ended_by in (None, "session")
        and life.node_id
        and told.role(life.sender) == "router"
    ]
    for _ in range(_HOPS_MAX):  # from router to router
        is_changed = False
        for life in relayed:
            end_ns = None if life.ended_by == "router" else _last_end(sources(told, life))
            if end_ns is None or _ends_too(told, life, end_ns):
                continue
            life.end_with_router(max(end_ns, life.declared_ns))
            is_changed = True
        if not is_changed:
            return
