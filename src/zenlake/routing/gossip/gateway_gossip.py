"""`GatewayGossip`: a router forwards the descriptions of the peers below it (§4.7).

It does not describe itself: peers know it as their gateway, and it takes no part in their
connections to each other.

The links that a peer describes show which gateways it has (gateways.py).
"""

from __future__ import annotations

from zenlake.limits import GOSSIP_PSIDS_MAX
from zenlake.routing.face import Face
from zenlake.routing.gossip.gateways import set_gateways, set_reach
from zenlake.routing.gossip.gossip import Gossip, Neighbour, describe, send_states
from zenlake.routing.tables import Tables
from zenlake.wire import LinkState
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId


class PeerLinks:
    """The links that a peer describes."""

    __slots__ = ("gateways", "linked")

    def __init__(self) -> None:
        self.gateways: set[ZenohId] = set()
        """Nodes that it called a gateway, linked or not."""

        self.linked: set[ZenohId] = set()


class GatewayGossip(Gossip):
    __slots__ = ("_links",)

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self._links: dict[Neighbour, PeerLinks] = {}

    def add_face(self, face: Face) -> None:
        newcomer = self._new_neighbour(face)
        if newcomer is not None:
            # An empty list is sent as well, as deployed routers do.
            others = self._neighbours.values()
            send_states(newcomer, [describe(other) for other in others if other.sn])
            self._links[newcomer] = PeerLinks()

    def remove_face(self, face: Face) -> None:
        neighbour = self._neighbours.get(face.zid)
        super().remove_face(face)
        if neighbour is not None and neighbour.face is face:
            del self._links[neighbour]

    def _read(self, neighbour: Neighbour, zid: ZenohId, state: LinkState) -> None:
        face = neighbour.face
        is_news = zid == face.zid and state.sn > neighbour.sn
        super()._read(neighbour, zid, state)
        links = self._links[neighbour]
        # Releases before 1.9 have no flag for it, but all routers are gateways of their peers.
        is_gateway = state.gateway or state.whatami == WhatAmI.ROUTER
        if is_gateway and len(links.gateways) < GOSSIP_PSIDS_MAX:
            links.gateways.add(zid)
        if is_news and state.links:  # without links it would be a description for other peers
            links.linked = {face.psids[psid] for psid in state.links if psid in face.psids}

    def _finish(self, neighbour: Neighbour) -> None:
        links = self._links[neighbour]
        set_gateways(self._tables, neighbour.face, frozenset(links.gateways & links.linked))

    def note_routers_changed(self) -> None:
        for neighbour in self._links:
            set_reach(self._tables, neighbour.face)
