"""`GatewayGossip`: a router passes on what the peers below it say of themselves (§4.7).

It does not describe itself: peers know it as their gateway, and it takes no part in their
connections to each other.
"""

from __future__ import annotations

from zenlake.routing.face import Face
from zenlake.routing.gossip import Gossip, describe, send_states


class GatewayGossip(Gossip):
    __slots__ = ()

    def add_face(self, face: Face) -> None:
        newcomer = self._new_neighbour(face)
        if newcomer is not None:
            # An empty list is sent as well, as deployed routers do.
            others = self._neighbours.values()
            send_states(newcomer, [describe(other) for other in others if other.sn])
