"""Origins: which node declared an entity first, and which node ended it first.

A router announces to its neighbours what other neighbours announced to it. So each of its
declarations, and each end of one, goes back to the node whose application declared the entity.
Between routers, a declaration that came from a third router also ends when that router is gone:
only link state shows that, no undeclaration follows (behaviour reference §4.7).

`zenlake why` applies these functions to all declarations of a capture, the tables only to
queryables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

SPREAD_NS: Final = 1_000_000_000
"""The longest time in which an end spreads; a later end has another cause."""
_UNSURE_NS: Final = 50_000_000
"""How far the times may differ at which the two sides notice the loss of a session."""
_HOPS_MAX: Final = 64


class ObservedDeclaration(Protocol):
    """One entity as one node declared it to another, with its lifetime."""

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


L = TypeVar("L", bound=ObservedDeclaration)
L_co = TypeVar("L_co", bound=ObservedDeclaration, covariant=True)


class DeclarationIndex(Protocol[L_co]):
    """All declarations that the nodes of one capture sent to each other."""

    def role(self, zid: str | None) -> str | None: ...
    def announced_exactly(self, zid: str, entity: str, key: str) -> Sequence[L_co]:
        """Declarations with exactly this key that node `zid` received."""

    def announced_matching(self, zid: str, entity: str, key: str) -> Sequence[L_co]:
        """Declarations with keys that intersect this one, which node `zid` received."""

    def closer(self, session: str) -> str | None:
        """The node that sent CLOSE; None if no node did."""

    def leaver(self, session: str) -> str | None:
        """The node that ended the session although the other side was not silent, or None."""


def sources(announced: DeclarationIndex[L], declaration: L) -> list[L]:
    """The declarations that the sender of `declaration` had received, except from its receiver."""
    if declaration.key is None or declaration.sender is None:
        return []
    exact = announced.announced_exactly(declaration.sender, declaration.entity, declaration.key)
    found = [one for one in exact if one.sender != declaration.receiver and one is not declaration]
    if (
        announced.role(declaration.sender) != "router"
        or announced.role(declaration.receiver) != "router"
    ):
        # To a neighbour with an interest in one key, a node declares that key in place of all that
        # it intersects (behaviour reference §3.6).
        return found or [
            one
            for one in announced.announced_matching(
                declaration.sender, declaration.entity, declaration.key
            )
            if one.sender != declaration.receiver
        ]
    # With NodeId 0, a client or peer of this router declared it; with another, a router behind it.
    is_relayed = bool(declaration.node_id)
    return [one for one in found if (announced.role(one.sender) == "router") == is_relayed]


def is_behind_hidden_router(announced: DeclarationIndex[L], declaration: L) -> bool:
    """Whether a router relays it from another router whose link is not in the capture.

    If that router goes, only link state shows it: the declaration may be obsolete.
    """
    return bool(declaration.node_id) and not sources(announced, declaration)


def path_to_origin(announced: DeclarationIndex[L], declaration: L) -> list[L]:
    """The path from a declaration back to the earliest one in the capture that caused it."""
    path = [declaration]
    while len(path) < _HOPS_MAX:
        at_ns = path[-1].declared_ns
        earlier = [
            one
            for one in sources(announced, path[-1])
            if _is_new(one, path) and (not at_ns or one.declared_ns <= at_ns)
        ]
        if not earlier:
            return path
        path.append(min(earlier, key=lambda one: (one.declared_ns, one.sender or "")))
    return path


def path_to_first_end(announced: DeclarationIndex[L], declaration: L) -> list[L]:
    """The path from a declaration that ended back to the one that ended first.

    That is a declaration which a node undeclared by itself, whose session ended, or which a node
    undeclared although a neighbour still declared it.
    """
    path = [declaration]
    while len(path) < _HOPS_MAX:
        last = path[-1]
        if last.ended_ns is None or last.ended_by == "session":
            return path
        until_ns = last.ended_ns
        found = [one for one in sources(announced, last) if _is_new(one, path)]
        ended = [
            one
            for one in found
            if one.ended_ns is not None and one.ended_ns <= until_ns + _UNSURE_NS
        ]
        if not ended or any(one.is_alive(until_ns + SPREAD_NS) for one in found):
            return path
        path.append(max(ended, key=lambda one: (one.ended_ns or 0, one.sender or "")))
    return path


def _last_end(found: list[L]) -> int | None:
    """When the last of these declarations ended; None if one has not ended."""
    ends = [one.ended_ns for one in found if one.ended_by in ("session", "router")]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(found) else None


def _ends_too(announced: DeclarationIndex[L], declaration: L, end_ns: int) -> bool:
    """Whether its own session ended as well, because the node between the two sessions went.

    False if the receiver left that session: it then left on its own, shortly after the router.
    """
    if declaration.ended_ns is None or declaration.ended_ns > end_ns + SPREAD_NS:
        return False
    return (
        declaration.receiver is None
        or announced.leaver(declaration.session) != declaration.receiver
    )


def _is_new(declaration: L, path: list[L]) -> bool:
    return all(one is not declaration for one in path)


def end_with_their_routers(announced: DeclarationIndex[L], declarations: Iterable[L]) -> None:
    """Ends declarations from routers that are gone, at the time when the router went.

    Only if every neighbour that announced it is gone: the capture then shows no other path to it.
    """
    relayed = [
        declaration
        for declaration in declarations
        if declaration.ended_by in (None, "session")
        and declaration.node_id
        and announced.role(declaration.sender) == "router"
    ]
    for _ in range(_HOPS_MAX):  # each pass follows the ends by one router
        is_changed = False
        for declaration in relayed:
            end_ns = (
                None
                if declaration.ended_by == "router"
                else _last_end(sources(announced, declaration))
            )
            if end_ns is None or _ends_too(announced, declaration, end_ns):
                continue
            declaration.end_with_router(max(end_ns, declaration.declared_ns))
            is_changed = True
        if not is_changed:
            return
