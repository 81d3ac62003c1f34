"""The sources of declarations: the lists `routers`, `peers` and `clients`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from zenlake.wire import WhatAmI, ZenohId

if TYPE_CHECKING:
    from zenlake.routing.face import Face


class Sources:
    """Nodes by the role in which this node knows them, each once."""

    __slots__ = ("_by_role", "_own_role", "_own_zid")

    def __init__(self, own_zid: ZenohId, own_role: WhatAmI) -> None:
        self._own_zid = own_zid
        self._own_role = own_role
        self._by_role: dict[WhatAmI, dict[str, None]] = {
            WhatAmI.ROUTER: {},
            WhatAmI.PEER: {},
            WhatAmI.CLIENT: {},
        }

    def add(self, face: Face) -> None:
        """Add a neighbour, in the list of its region: north of a peer, a router is a peer too."""
        self._by_role[role_in_region(face, self._own_role)][str(face.zid)] = None

    def add_own(self) -> None:
        """Add this node: to nodes beside and above it, declarations from below are its own."""
        self._by_role[self._own_role][str(self._own_zid)] = None

    def to_json(self) -> str:
        lists = {
            "routers": list(self._by_role[WhatAmI.ROUTER]),
            "peers": list(self._by_role[WhatAmI.PEER]),
            "clients": list(self._by_role[WhatAmI.CLIENT]),
        }
        return json.dumps(lists, separators=(",", ":"))


def role_in_region(face: Face, own_role: WhatAmI) -> WhatAmI:
    region = face.region
    if region.is_north:
        return face.role if own_role == WhatAmI.CLIENT else own_role
    return WhatAmI.CLIENT if face.is_local else face.role
