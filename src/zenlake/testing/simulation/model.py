"""The declarations that each node must know when the network is idle, computed from the ledger.

A peer knows the declarations of its own application and its clients and, for each peer it is
linked to, those of that peer's application and clients; a router knows the same of its peers. A
client knows the declarations of its gateway that match an interest of the client. A peer knows the
declarations of its router that match an interest of the peer or of its clients. Declarations
received for an interest that has ended may still be known, as long as they exist (behaviour
reference §3.2, §3.4, §4.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from zenlake.keyexpr.matching import includes, intersects
from zenlake.routing.declarations.entity import QUERYABLE, SUBSCRIBER, TOKEN
from zenlake.routing.face import Face
from zenlake.session import Locality
from zenlake.testing.simulation.journal import InvariantError
from zenlake.testing.simulation.records import Queryable, Record, SourceRecord
from zenlake.testing.simulation.wire_end import WireEnd
from zenlake.wire import WhatAmI

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode
    from zenlake.testing.simulation.world import World

Known = dict[str, bool]
"""Keys of declarations, and whether one of them is a complete queryable."""


class Model:
    def __init__(self, world: World) -> None:
        self._world = world
        ledger = world.ledger
        self._records: dict[int, list[Record]] = {
            SUBSCRIBER: [one for one in ledger.subscribers if one.is_live],
            QUERYABLE: [one for one in ledger.queryables if one.is_live],
            TOKEN: [one for one in ledger.tokens if one.is_live],
        }

    def check(self) -> None:
        for node in self._world.nodes:
            self._check_links(node)
            if node.role == WhatAmI.ROUTER:
                self._check_sources(node)
            for end in node.ends:
                self._check_face(node, end)
                self._check_symmetry(end)
        self._check_watchers()
        self._check_listeners()

    def _check_links(self, node: SimulatedNode) -> None:
        for connector in node.connectors:
            if connector.end is None or not connector.end.wire.is_up:
                raise InvariantError(f"{node.name} did not connect again")

    # --- routing ---------------------------------------------------------------------------------

    def _declarations_of(
        self, kind: int, nodes: Iterable[SimulatedNode], hidden: Locality = Locality.SESSION_LOCAL
    ) -> Known:
        """The declarations of nodes, without those whose locality is `hidden`."""
        found: Known = {}
        chosen = list(nodes)
        for record in self._records[kind]:
            if record.node in chosen and record.origin != hidden:
                complete = isinstance(record, Queryable) and record.is_complete
                found[record.key] = found.get(record.key, False) or complete
        return found

    def _check_face(self, node: SimulatedNode, end: WireEnd) -> None:
        """Check the declarations that a node knows of a neighbour, unless both are routers."""
        other = end.wire.other(end).node
        if other.role == WhatAmI.ROUTER == node.role:
            return
        for kind in (SUBSCRIBER, QUERYABLE, TOKEN):
            known = _held(end, kind)
            if node.role == WhatAmI.CLIENT or other.role == WhatAmI.ROUTER:
                self._check_gateway(node, other, kind, known)
                continue
            nodes = self._with_clients(other) if other.role == WhatAmI.PEER else [other]
            wanted = self._declarations_of(kind, nodes)
            if known != wanted:
                raise _wrong(node, other, kind, known, wanted)

    def _check_gateway(
        self, node: SimulatedNode, gateway: SimulatedNode, kind: int, known: Known
    ) -> None:
        """Check the declarations that a node knows of its gateway."""
        visible = self._declarations_of(kind, self._world.reach.behind(gateway, node))
        wanted = self._wanted(kind, node, visible)
        # A gateway that is below others itself may not know other complete queryables for a key
        # that no interest covers any more.
        exact = wanted if gateway.is_below_others else known
        extra = {key for key in known if key not in visible}
        extra |= {key for key in exact if known.get(key) != visible.get(key)}
        missing = {key for key in wanted if key not in known}
        if kind == TOKEN:
            # If a node has a token on the same key, the end of another node's token is not
            # announced to it.
            extra -= self._declarations_of(kind, self._with_clients(node)).keys()
        peer = node if node.role == WhatAmI.PEER else gateway
        if peer.role == WhatAmI.PEER and len(self._world.reach.routers_of(peer)) > 1:
            # A peer's declarations to one router come back through another, except tokens: only
            # the router that the peer declared a token to announces it.
            own = self._declarations_of(kind, self._with_clients(peer)).keys()
            extra -= own
            missing -= own if kind == TOKEN else set()
        if extra or missing:
            raise _wrong(node, gateway, kind, known, wanted)

    def _with_clients(self, node: SimulatedNode) -> list[SimulatedNode]:
        return [node, *self._world.reach.clients_of(node)]

    def _check_sources(self, node: SimulatedNode) -> None:
        """A router knows the declarations of each other router's application and neighbours."""
        reach = self._world.reach
        routers, _ = reach.network_of(node)
        sources = node.sources()
        if extra := sources.keys() - {other.zid for other in routers}:
            raise InvariantError(f"{node.name} knows of routers that are gone: {extra}")
        for other in routers[1:]:
            for kind in (SUBSCRIBER, QUERYABLE, TOKEN):
                source = sources.get(other.zid)
                known = {} if source is None else _held_by(source, kind)
                wanted = self._declarations_of(kind, [other, *reach.below(other)])
                if known != wanted:
                    raise _wrong(node, other, kind, known, wanted)

    def _wanted(self, kind: int, node: SimulatedNode, visible: Known) -> Known:
        """The visible declarations that match an interest of the node or its clients."""
        ledger = self._world.ledger
        interested = self._with_clients(node)
        records: list[Record]
        if kind == TOKEN:
            # Without history the interest is in future tokens only.
            records = [one for one in ledger.watchers if one.with_history]
        else:
            is_querier = kind == QUERYABLE
            records = [one for one in ledger.sources if one.is_querier == is_querier]
        keys = [one.key for one in records if one.node in interested and one.is_live]
        return {
            key: complete
            for key, complete in visible.items()
            if any(intersects(key, one) for one in keys)
        }

    def _check_symmetry(self, end: WireEnd) -> None:
        """The declarations that one side sent must be stored on the other."""
        other = end.wire.other(end)
        assert end.face is not None
        for kind in (SUBSCRIBER, QUERYABLE, TOKEN):
            announced = set(end.face.announced[kind])
            received = set(_held(other, kind))
            if announced != received:
                names = f"{end.node.name} declared to {other.node.name}"
                text = f"{names} {sorted(announced)} of kind {kind}, which has {sorted(received)}"
                raise InvariantError(text)

    # --- applications ----------------------------------------------------------------------------

    def _check_watchers(self) -> None:
        for watcher in self._world.ledger.watchers:
            if not watcher.is_live:
                continue
            nodes = [watcher.node, *self._world.reach.reachable(watcher.node)]
            alive = {
                key for key in self._declarations_of(TOKEN, nodes) if intersects(key, watcher.key)
            }
            reported = {key for key, is_present in watcher.present.items() if is_present}
            silent = {
                key
                for key in alive - reported
                if watcher.with_history
                or (watcher.present.get(key) is False and not watcher.is_short_sighted(key))
            }
            if reported - alive or silent:
                raise watcher.fail(f"it got {sorted(reported)}, expected {sorted(alive)}")

    def _check_listeners(self) -> None:
        for listener in self._world.ledger.listeners:
            if not listener.is_live:
                continue
            is_matching = self._matches(listener.source)
            if listener.is_matching != is_matching:
                raise listener.fail(f"it got {listener.is_matching}, expected {is_matching}")

    def _matches(self, source: SourceRecord) -> bool:
        """Whether a source matches; queryables of others must include its key (§2.3)."""
        kind = QUERYABLE if source.is_querier else SUBSCRIBER
        own = self._declarations_of(kind, [source.node], Locality.REMOTE)
        others = self._declarations_of(kind, self._world.reach.reachable(source.node))
        if any(intersects(key, source.key) for key in own):
            return True
        if source.is_querier:
            return any(includes(key, source.key) for key in others)
        return any(intersects(key, source.key) for key in others)


def _held(end: WireEnd, kind: int) -> Known:
    assert end.face is not None
    return _held_by(end.face, kind)


def _held_by(face: Face, kind: int) -> Known:
    return {
        entity.key: entity.holders.require(face).info.complete
        for entity in face.held[kind].values()
    }


def _wrong(
    node: SimulatedNode, other: SimulatedNode, kind: int, known: Known, wanted: Known
) -> InvariantError:
    name = ("subscribers", "queryables", "tokens")[kind]
    return InvariantError(f"{node.name} knows {name} {known} of {other.name}, expected {wanted}")
