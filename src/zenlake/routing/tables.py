"""`Tables`: the state that the parts of the dispatcher share."""

from __future__ import annotations

from zenlake.errors import KeyExprError
from zenlake.keyexpr.canonical import validate
from zenlake.routing.counters import Counters
from zenlake.routing.entity import KINDS
from zenlake.routing.entity_table import EntityTable
from zenlake.routing.face import Face
from zenlake.routing.interest_table import InterestTable
from zenlake.routing.memory import MemoryBudget
from zenlake.routing.region import ABOVE, Region
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import KEY_BYTES_PER_STEP, Work
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId


class Tables:
    __slots__ = (
        "clients",
        "counters",
        "entities",
        "interests",
        "local",
        "memory",
        "north",
        "peers",
        "regions",
        "role",
        "settings",
        "version",
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
        """Of all neighbours together."""

        self.local = Region("local", relays=True, is_north=False)
        self.clients = Region("south:0:client", relays=True, is_north=False)
        self.north = Region("north", relays=False, is_north=True)
        self.peers = self.north
        """Where peers and groups are: below a router, else in the north."""

        self.regions = [self.local, self.clients, self.north]
        if role == WhatAmI.ROUTER:
            self.peers = Region("south:0:peer", relays=False, is_north=False)
            self.regions.insert(2, self.peers)
        self.entities = [EntityTable(kind) for kind in KINDS]
        self.interests = InterestTable()
        self.version = 0
        """Another one whenever cached routes are void."""

    def region_of(self, role: WhatAmI) -> Region:
        """Where a neighbour belongs."""
        if role == WhatAmI.CLIENT:
            return self.clients
        return self.peers if role == WhatAmI.PEER else self.north

    def gateways(self) -> list[Face]:
        """The faces above."""
        return [face for face in self.north.faces if face.position == ABOVE]

    def forget_routes(self) -> None:
        """Something changed that a cached route may depend on."""
        self.version += 1
        for region in self.regions:
            if region.routes:
                region.routes.clear()

    def resolve(self, face: Face, expr: WireExpr) -> str | None:
        """The valid key that a face means; None, and counted, if there is none."""
        key = face.keys.resolve(expr)
        if key is None:
            self.counters.unknown_aliases += 1
            return None
        self.work.steps -= len(key) // KEY_BYTES_PER_STEP
        return key if self.is_valid(key) else None

    def is_valid(self, key: str) -> bool:
        """Whether a text is a canonical key expression; counted if not."""
        try:
            validate(key)
        except KeyExprError:
            self.counters.invalid_keys += 1
            return False
        return True
