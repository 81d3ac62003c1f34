"""Reach: which nodes get messages of which, from the working links (behaviour ref. §4.1, §4.2).

A client reaches the nodes that its gateway reaches. Peers reach each other over the link between
them, and other nodes through the router above them. Routers reach each other over any path of
routers; a router does not forward messages of one of its peers to another.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

from zenlake.testing.simulation.promises import NodePath
from zenlake.testing.simulation.wire import Wire
from zenlake.wire import WhatAmI

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode
    from zenlake.testing.simulation.world import World

NETWORK_SETTLE_S: Final = 2.0
"""After this time all routers know a change, and have sent the resulting messages."""


class Reach:
    def __init__(self, world: World) -> None:
        self._world = world
        self._changes: list[float] = []
        """When routers opened, lost or closed sessions with each other."""

    def note_change(self) -> None:
        """Note a change of a link between routers, or between a router and a peer with several."""
        self._changes.append(self._world.timeline.now)

    def is_settled(self) -> bool:
        """Whether all routers have known the links between them for a while."""
        now = self._world.timeline.now
        if self.has_changed(now - NETWORK_SETTLE_S, now):
            return False
        return not any(wire.failed_at <= now for wire in self._open_router_wires())

    def has_changed(self, start: float, stop: float) -> bool:
        return bisect_right(self._changes, stop) > bisect_left(self._changes, start)

    def was_settled(self, since: float) -> bool:
        """Whether the network was settled at that time and has not changed until now."""
        return self.is_settled() and not self.has_changed(
            since - NETWORK_SETTLE_S, self._world.timeline.now
        )

    def _open_router_wires(self) -> list[Wire]:
        """Wires between routers that at least one side regards as open."""
        return [
            wire
            for wire in self._world.wires
            if wire.is_between_routers() and any(end.is_alive for end in wire.ends)
        ]

    # --- links -----------------------------------------------------------------------------------

    def wire_between(self, one: SimulatedNode, other: SimulatedNode) -> Wire | None:
        for end in one.ends:
            if end.wire.is_up and end.wire.other(end).node is other:
                return end.wire
        return None

    def gateway(self, node: SimulatedNode) -> SimulatedNode | None:
        """The gateway of a client; a peer or router is its own."""
        if node.role != WhatAmI.CLIENT:
            return node
        others = (end.wire.other(end).node for end in node.ends if end.wire.is_up)
        return next((other for other in others if other.role != WhatAmI.CLIENT), None)

    def routers_of(self, node: SimulatedNode) -> list[SimulatedNode]:
        """The routers above a peer; a router is its own."""
        if node.role == WhatAmI.ROUTER:
            return [node]
        others = [end.wire.other(end).node for end in node.ends if end.wire.is_up]
        return [other for other in others if other.role == WhatAmI.ROUTER]

    def network_of(self, router: SimulatedNode) -> tuple[list[SimulatedNode], list[Wire]]:
        """All routers that it is linked to, directly or not, and the wires between them."""
        routers = [router]
        wires: dict[Wire, None] = {}
        for node in routers:
            for end in node.ends:
                other = end.wire.other(end).node
                if end.wire.is_up and other.role == WhatAmI.ROUTER:
                    wires[end.wire] = None
                    if other not in routers:
                        routers.append(other)
        return routers, list(wires)

    # --- paths -----------------------------------------------------------------------------------

    def path(self, source: SimulatedNode, to: SimulatedNode) -> NodePath | None:
        """The only current path between two sessions, if there is one."""
        if source is to:
            return NodePath([source], [])
        first, last = self.gateway(source), self.gateway(to)
        if first is None or last is None:
            return None
        middle = self._path_between(first, last)
        if middle is None:
            return None
        nodes, wires = list(middle.nodes), list(middle.wires)
        for node, gateway, at in ((source, first, 0), (to, last, len(nodes))):
            if node is not gateway:
                wire = self.wire_between(node, gateway)
                assert wire is not None
                nodes.insert(at if at == 0 else len(nodes), node)
                wires.append(wire)
        return NodePath(nodes, wires, middle.network)

    def _path_between(self, first: SimulatedNode, last: SimulatedNode) -> NodePath | None:
        """The path between two nodes that are not clients."""
        if first is last:
            return NodePath([first], [])
        direct = self.wire_between(first, last)
        if WhatAmI.PEER == first.role == last.role and direct is not None:
            return NodePath([first, last], [direct])
        entries, exits = self.routers_of(first), self.routers_of(last)
        if not entries or not exits:
            return None
        if WhatAmI.PEER == first.role == last.role and set(entries) & set(exits):
            return None
        routers, network = self.network_of(entries[0])
        if any(router not in routers for router in (*entries, *exits)):
            return None
        wires: list[Wire] = []
        for node, gateways in ((first, entries), (last, exits)):
            for gateway in gateways:
                wire = self.wire_between(node, gateway)
                if wire is not None:
                    wires.append(wire)
        if entries == exits and len(entries) == 1:
            # A peer that may have other routers decides which of them forwards which messages.
            is_simple = all(len(node.plan.connects) < 2 for node in (first, last))
            nodes = list(dict.fromkeys((first, entries[0], last)))
            return NodePath(nodes, wires, None if is_simple else self)
        nodes = list(dict.fromkeys((first, *routers)))
        if last in nodes:
            nodes.remove(last)
        return NodePath([*nodes, last], [*wires, *network], self)

    def reachable(self, node: SimulatedNode) -> list[SimulatedNode]:
        nodes = self._world.nodes
        return [other for other in nodes if other is not node and self.path(node, other)]

    def clients_of(self, node: SimulatedNode) -> list[SimulatedNode]:
        return [
            one
            for one in self._world.nodes
            if one.role == WhatAmI.CLIENT and self.gateway(one) is node
        ]

    def below(self, router: SimulatedNode) -> list[SimulatedNode]:
        """The clients of a node, its peers, and their clients."""
        nodes = self.clients_of(router)
        for one in self._world.nodes:
            if one.role == WhatAmI.PEER and router in self.routers_of(one):
                nodes += [one, *self.clients_of(one)]
        return nodes

    def behind(self, gateway: SimulatedNode, node: SimulatedNode) -> list[SimulatedNode]:
        """The nodes whose declarations a node may get from its gateway."""
        nodes = [gateway, *(one for one in self.reachable(gateway) if one is not node)]
        if node.role == WhatAmI.CLIENT:
            return nodes
        # The gateway does not announce a peer's own clients and peers below the same router.
        clients = self.clients_of(gateway)
        skipped = [one for one in self.below(gateway) if one not in clients]
        return [one for one in nodes if one not in skipped]
