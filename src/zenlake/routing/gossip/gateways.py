"""`set_gateways`: which gateway of a peer carries its messages to other routers (§4.4).

A peer with several gateways sends its messages to each of them, and describes all of them to each.
Only one of them, the *primary*, carries messages between that peer and other routers. In deployed
releases the others still deliver the peer's messages to their own clients, which get them from the
primary as well; here they do not, as long as they can reach the primary.
"""

from __future__ import annotations

from zenlake.routing.face import Face
from zenlake.routing.forwarding.origin import ANYWHERE, NOWHERE, SOUTH_ONLY
from zenlake.routing.tables import Tables
from zenlake.wire.values.zenoh_id import ZenohId


def set_gateways(tables: Tables, face: Face, gateways: frozenset[ZenohId]) -> None:
    """Set the gateways of a peer, as the peer describes them; the greatest is the primary."""
    if gateways != face.gateways:
        face.gateways = gateways
        face.is_primary = not gateways or max(gateways) == tables.zid
        set_reach(tables, face)
        tables.forget_routes()


def set_reach(tables: Tables, face: Face) -> None:
    """Decide how far this router carries the messages of a peer."""
    reach = ANYWHERE
    if not face.is_primary:
        routers = tables.routers
        is_near = routers is not None and max(face.gateways) in routers.network.graph.nodes
        reach = NOWHERE if is_near else SOUTH_ONLY
    face.origin = face.region.origins[reach]
