"""`GatewayGossip`: a router passes on what the peers below it say of themselves (§4.7).

It does not describe itself: peers know it as their gateway, and it takes no part in their
connections to each other.

A peer with several gateways sends its messages to each of them, and tells each of the others. Only
one of them, the *primary*, carries messages between that peer and other routers (§4.4). The others
would still deliver to their own clients what the primary sends them as well; here they do not, as
long as they can reach the primary.
"""

from __future__ import annotations

from zenlake.limits import GOSSIP_PSIDS_MAX
from zenlake.routing.face import Face
from zenlake.routing.gossip import Gossip, Neighbour, describe, send_states
from zenlake.routing.origin import ANYWHERE, NOWHERE, SOUTH_ONLY
from zenlake.routing.tables import Tables
from zenlake.wire._generated.structures import LinkState
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId


class PeerLinks:
    """What a peer says of its links."""

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

    def _conclude(self, neighbour: Neighbour) -> None:
        """The primary gateway of a peer is the one with the greatest id."""
        face = neighbour.face
        links = self._links[neighbour]
        gateways = frozenset(links.gateways & links.linked)
        if gateways != face.gateways:
            face.gateways = gateways
            face.is_primary = not gateways or max(gateways) == self._tables.zid
            self._place(face)
            self._tables.forget_routes()

    def reconsider(self) -> None:
        for neighbour in self._links:
            self._place(neighbour.face)

    def _place(self, face: Face) -> None:
        """Decide how far this router carries the messages of a peer."""
        reach = ANYWHERE
        if not face.is_primary:
            routers = self._tables.routers
            is_near = routers is not None and max(face.gateways) in routers.network.graph.nodes
            reach = NOWHERE if is_near else SOUTH_ONLY
        face.origin = face.region.origins[reach]
