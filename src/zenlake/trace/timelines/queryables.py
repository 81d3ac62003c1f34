"""Queryables: an index of all queryables that the nodes of a capture declared to each other.

It finds the queryables to which a node could forward a query, and the requester's own. Fill it
before the first search.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from zenlake.errors import ZenlakeError
from zenlake.keyexpr import canonize
from zenlake.keyexpr.tree import KeyTree
from zenlake.limits import QUERYABLES_COMPARED_MAX, QUERYABLES_MAX
from zenlake.trace.timelines.origins import end_with_their_routers


@dataclass(slots=True, eq=False)
class Queryable:
    """One queryable as one node declared it to another, with its lifetime."""

    sender: str | None
    receiver: str | None
    key: str
    declared_ns: int
    """0 if the declaration precedes the capture."""
    ended_ns: int | None
    """None while it is declared."""
    ended_by: str | None
    """undeclare, session, or router (the router of origin is gone)."""
    session: str = ""
    node_id: int | None = None
    """Between routers, the sender's number for the router of origin; 0 is the sender itself."""

    @property
    def entity(self) -> str:
        return "queryable"

    def is_alive(self, time_ns: int) -> bool:
        return self.declared_ns <= time_ns and (self.ended_ns is None or self.ended_ns >= time_ns)

    def end_with_router(self, time_ns: int) -> None:
        self.ended_ns, self.ended_by = time_ns, "router"


Keys = KeyTree[list[Queryable]]


class Queryables:
    """All queryables of one capture, with the roles and neighbours of its nodes."""

    def __init__(
        self,
        queryables_max: int = QUERYABLES_MAX,
        compared_max: int = QUERYABLES_COMPARED_MAX,
    ) -> None:
        self._queryables_max = queryables_max
        self._compared_max = compared_max
        self.roles: dict[str, str] = {}
        self.closers: dict[str, str] = {}
        """The node that sent CLOSE, by session."""
        self.leavers: dict[str, str] = {}
        """The node that ended each session although the other side was not silent."""
        self.hidden: str | None = None
        """A sentence about parts of the capture that may hide declarations, or None."""
        self.is_full = False
        """Whether a limit of this index was reached; then nothing is concluded."""
        self._count = 0
        self._compared = 0
        self._neighbours: dict[str, set[str | None]] = defaultdict(set)
        self._announced_to: dict[str | None, Keys] = {}
        self._announced_by: dict[str | None, Keys] = {}
        self._announced_exactly: dict[tuple[str | None, str], list[Queryable]] = defaultdict(list)
        self._relayed: list[Queryable] = []

    def connect(self, zid: str | None, role: str | None, other: str | None) -> None:
        """Records a session of a node, and its role."""
        if zid is not None:
            self._neighbours[zid].add(other)
            if role is not None:
                self.roles[zid] = role

    def add(self, queryable: Queryable) -> None:
        self._count += 1
        if self._count > self._queryables_max:
            self.is_full = True
            return
        self._announced_exactly[queryable.receiver, queryable.key].append(queryable)
        if queryable.node_id:
            self._relayed.append(queryable)
        for trees, zid in (
            (self._announced_to, queryable.receiver),
            (self._announced_by, queryable.sender),
        ):
            tree = trees.setdefault(zid, KeyTree())
            key = _canonical(queryable.key)
            known = tree.get(key)
            if known is None:
                tree.insert(key, [queryable])
            else:
                known.append(queryable)

    def end_with_routers(self) -> None:
        """Ends queryables from routers that are gone; call it after the last `add`."""
        end_with_their_routers(self, self._relayed)

    def role(self, zid: str | None) -> str | None:
        return self.roles.get(zid or "")

    def are_peers(self, one: str | None, other: str | None) -> bool:
        """Whether both are peers, which announce everything to each other directly."""
        return self.role(one) == "peer" and self.role(other) == "peer"

    def closer(self, session: str) -> str | None:
        return self.closers.get(session)

    def leaver(self, session: str) -> str | None:
        return self.leavers.get(session)

    def announced_exactly(self, zid: str, entity: str, key: str) -> list[Queryable]:
        """Queryables with exactly this key that node `zid` received."""
        return self._announced_exactly.get((zid, key), [])

    def announced_matching(self, zid: str, entity: str, key: str) -> list[Queryable]:
        return self._found(self._announced_to, zid, key)

    def offered(self, node: str | None, requester: str | None, key: str) -> list[Queryable]:
        """Matching queryables to which a node could forward a query of `requester`.

        These are the queryables that others declared to the node, and the node's own: those that
        it declared to the requester without relaying them.
        """
        others = [
            one
            for one in self._found(self._announced_to, node, key)
            if one.sender != requester and not self._is_direct(one, requester)
        ]
        keys = {one.key for one in others}
        own = [
            one
            for one in self._found(self._announced_by, node, key)
            if one.receiver == requester and one.key not in keys
        ]
        return others + own

    def _is_direct(self, one: Queryable, requester: str | None) -> bool:
        """Whether both are connected peers: no router relays between them."""
        if not self.are_peers(requester, one.sender):
            return False
        announced = self._announced_exactly.get((requester, one.key), ())
        return any(same.sender == one.sender for same in announced)

    def own(self, node: str | None, key: str, time_ns: int) -> Queryable | None:
        """A matching queryable of the node itself: requests to it cross no link.

        None for routers, because a router may relay what it declares.
        """
        if node is None or self.role(node) == "router":
            return None
        found = self._found(self._announced_by, node, key)
        return next((one for one in found if one.is_alive(time_ns)), None)

    def has_one_link(self, zid: str | None) -> bool:
        """Whether a router or peer has only one neighbour in the capture: others may be hidden."""
        if zid is None:
            return True
        return self.role(zid) != "client" and len(self._neighbours[zid]) <= 1

    def _found(self, trees: dict[str | None, Keys], zid: str | None, key: str) -> list[Queryable]:
        tree = trees.get(zid)
        if tree is None or self.is_full:
            return []
        found = [one for same in tree.intersecting(_canonical(key)) for one in same]
        self._compared += len(found)
        self.is_full = self._compared > self._compared_max
        return sorted(found, key=lambda one: (one.declared_ns, one.key))


def _canonical(key: str) -> str:
    """The canonical key; an invalid key is unchanged, so that it matches only the same text."""
    try:
        return canonize(key)
    except ZenlakeError:
        return key


def hidden_text(encrypted: int, partial: int) -> str | None:
    """Describes what may hide declarations in the capture: encrypted bytes, partial sessions."""
    if encrypted:
        return f"{encrypted:,} byte{'' if encrypted == 1 else 's'} of the capture are encrypted"
    if partial:
        return f"{partial:,} session{'' if partial == 1 else 's'} began before the capture"
    return None


def undecoded_bytes(undecoded: str | None) -> dict[str, int]:
    """Parses `captures.undecoded`, such as `encrypted: 12 bytes; not_zenoh: 3 bytes`."""
    parts = [part.partition(": ") for part in (undecoded or "").split("; ")]
    return {state: int(size.split()[0]) for state, _, size in parts if size}
