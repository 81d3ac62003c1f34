"""`Tables`: the state that the parts of the dispatcher share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.errors import KeyExprError
from zenlake.keyexpr.canonical import validate
from zenlake.routing.counters import Counters
from zenlake.routing.declarations.entity import KINDS, QUERYABLE, SUBSCRIBER
from zenlake.routing.declarations.entity_table import EntityTable
from zenlake.routing.declarations.interest_table import InterestTable
from zenlake.routing.face import Face
from zenlake.routing.forwarding.origin import ANYWHERE, Origin
from zenlake.routing.forwarding.route import QueryRoute, Route
from zenlake.routing.forwarding.route_cache import RouteCache
from zenlake.routing.memory import MemoryBudget
from zenlake.routing.region import ABOVE, Region
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import KEY_BYTES_PER_STEP, Work
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

if TYPE_CHECKING:
    from zenlake.routing.network.election import Election
    from zenlake.routing.network.sourced_region import SourcedRegion


class Tables:
    __slots__ = (
        "clients",
        "counters",
        "election",
        "entities",
        "interests",
        "local",
        "memory",
        "north",
        "now",
        "peers",
        "query_routes",
        "regions",
        "role",
        "routers",
        "routes",
        "settings",
        "work",
        "zid",
    )

    def __init__(self, zid: ZenohId, role: WhatAmI, settings: RoutingSettings) -> None:
        self.zid = zid
        self.role = role
        self.settings = settings
        self.counters = Counters()
        self.work = Work()
        self.memory = MemoryBudget(settings.bytes_max)
        """The memory of all neighbours together."""

        self.local = Region("local", relays=True, is_north=False)
        self.clients = Region("south:0:client", relays=True, is_north=False)
        self.north = Region("north", relays=False, is_north=True)
        self.peers = self.north
        """The region of peers and groups: below a router, else in the north."""

        self.regions = [self.local, self.clients, self.north]
        if role == WhatAmI.ROUTER:
            self.peers = Region("south:0:peer", relays=False, is_north=False)
            self.regions.insert(2, self.peers)
        self.entities = [EntityTable(kind) for kind in KINDS]
        self.interests = InterestTable()
        self.routers: SourcedRegion | None = None
        """The network of routers; None if this node is no router."""

        self.election: Election | None = None
        """The election of a router that is a node of a network of linkstate peers too."""

        self.now = 0.0
        """The time of the last message or timeout."""

        self.routes: RouteCache[Route] = RouteCache(self.work)
        self.query_routes: RouteCache[QueryRoute] = RouteCache(self.work)
        for region in self.regions:
            for origin in region.origins:
                self.add_origin(origin)

    def region_of(self, role: WhatAmI) -> Region:
        """The region of a neighbour."""
        if role == WhatAmI.CLIENT:
            return self.clients
        return self.peers if role == WhatAmI.PEER else self.north

    def source_of(self, face: Face, node_id: int | None) -> Face | None:
        """The node of the network that sent a message first, which a neighbour forwarded."""
        sourced = face.region.sourced
        return None if sourced is None else sourced.source_of(face, node_id)

    def next_hop(self, origin: Origin, node: Face) -> Face | None:
        """The neighbour that leads to a node of a network."""
        sourced = node.region.sourced
        if sourced is None or origin.reach != ANYWHERE:
            return None
        return sourced.next_hop(origin, node.zid)

    def barred_region(self, key: str) -> Region | None:
        """The region that messages on a key neither leave nor enter here, if there is one.

        Another router was elected to carry them between the network of peers and the others.
        """
        election = self.election
        if election is None or election.elects(key, self.work):
            return None
        return self.peers

    def gateways(self) -> list[Face]:
        """The faces above."""
        return [face for face in self.north.faces if face.position == ABOVE]

    def add_origin(self, origin: Origin) -> None:
        self.routes.add_origin(origin.routes)
        self.query_routes.add_origin(origin.query_routes)

    def remove_origin(self, origin: Origin) -> None:
        self.routes.remove_origin(origin.routes)
        self.query_routes.remove_origin(origin.query_routes)

    def forget_routes(self) -> None:
        """Forget all routes: something changed that any of them may depend on."""
        self.routes.forget_all()
        self.query_routes.forget_all()

    def forget_routes_of(self, kind: int, key: str) -> None:
        """Something changed about entities of a kind whose keys intersect `key`, "" for all."""
        if kind == SUBSCRIBER:
            self.routes.forget(key)
        elif kind == QUERYABLE:
            self.query_routes.forget(key)

    def shorten_routes(self, prefix: str) -> None:
        """A neighbour defined an alias for a prefix: forget the routes that may use it.

        Those with a verbatim chunk after it, which `**` does not match, stay as they are.
        """
        self.routes.forget(prefix if prefix.endswith("**") else prefix + "/**")

    def resolve(self, face: Face, expr: WireExpr) -> str | None:
        """The key of a wire expression of a face; None, and counted, if it is invalid."""
        key = self.text_of(face, expr)
        return key if key is not None and self.is_valid(key) else None

    def text_of(self, face: Face, expr: WireExpr) -> str | None:
        """The text of a wire expression, valid or not; None, and counted, for an unknown alias."""
        key = face.keys.resolve(expr)
        if key is None:
            self.counters.unknown_aliases += 1
            return None
        self.work.steps -= len(key) // KEY_BYTES_PER_STEP
        return key

    def is_valid(self, key: str) -> bool:
        """Whether a text is a canonical key expression; counted if not."""
        try:
            validate(key)
        except KeyExprError:
            self.counters.invalid_keys += 1
            return False
        return True
