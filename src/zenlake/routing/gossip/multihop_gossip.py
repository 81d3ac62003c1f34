"""`MultihopGossip`: multihop gossip, where peers know all peers and how they are linked (§4.7).

`scouting/gossip/multihop`: the peers of a region, and their routers, exchange link states as
routers do, but only to find each other. A node may connect to any node whose locators it learns,
however far away it is. Nothing is routed along this network.
"""

from __future__ import annotations

from zenlake.routing.face import Face
from zenlake.routing.gossip.gateways import set_gateways, set_reach
from zenlake.routing.gossip.gossip import Gossip, GossipedNode
from zenlake.routing.network.network import Network
from zenlake.routing.region import BESIDE
from zenlake.routing.tables import Tables
from zenlake.routing.work import Job
from zenlake.wire import Oam
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId


class MultihopGossip(Gossip):
    __slots__ = ("_faces", "_network")

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        settings = tables.settings
        self._network = Network(tables.zid, tables.role, settings, tables.counters, tables.work, {})
        self._network.graph.own.is_gateway = tables.role == WhatAmI.ROUTER
        self._faces: dict[Face, None] = {}

    def set_locators(self, locators: list[str]) -> None:
        super().set_locators(locators)
        self._network.flooding.own_locators = locators

    def add_face(self, face: Face) -> None:
        """Add a neighbour; one that is no target of gossip does not get the locators of others."""
        if face.role == WhatAmI.CLIENT or face.is_multicast or face.position == BESIDE:
            return
        self._faces[face] = None
        self._network.flooding.add_link(face, self._tables.now)

    def remove_face(self, face: Face) -> None:
        if face in self._faces:
            del self._faces[face]
            self._network.flooding.remove_link(face, self._tables.now)
            self._update_gateways()

    def receive(self, face: Face, message: Oam) -> None:
        if face in self._faces:
            self._tables.work.run_for(face, self._receive(face, message))
        else:
            self._tables.counters.unexpected_messages += 1

    def _receive(self, face: Face, message: Oam) -> Job:
        yield from self._network.flooding.receive(face, message, self._tables.now)
        self._update_gateways()

    def has_discoveries(self) -> bool:
        return self._network.has_discoveries()

    def pop_discoveries(self) -> list[GossipedNode]:
        return self._network.pop_discoveries()

    # The gateways of the peers below a router.

    def note_routers_changed(self) -> None:
        for face in self._faces:
            set_reach(self._tables, face)

    def _update_gateways(self) -> None:
        self._network.graph.left.clear()
        self._network.pop_forgotten()
        if self._tables.role == WhatAmI.ROUTER:
            for face in self._faces:
                set_gateways(self._tables, face, self._gateways_of(face))

    def _gateways_of(self, face: Face) -> frozenset[ZenohId]:
        """Releases before 1.9 have no flag for it, but all routers are gateways of their peers."""
        node = self._network.graph.nodes.get(face.zid)
        found: set[ZenohId] = set()
        if node is not None:
            self._tables.work.steps -= len(node.links)
            for target in node.links:
                if target.is_gateway or target.role == WhatAmI.ROUTER:
                    found.add(target.zid)
        return frozenset(found)
