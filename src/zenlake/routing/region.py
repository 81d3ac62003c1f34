"""`Region`: faces that one routing component (a "hat") is in charge of (behaviour reference §4.1).

    own mode    north                 south:0:client    south:0:peer    local
    client      its gateway           -                 -               the applications
    peer        peers and routers     clients           -               in the process
    router      routers               clients           peers

The hats differ in two facts about a region: whether traffic may
stay within it (between clients of one broker it may, between peers it may not, because
they are linked directly), and where each of its faces stands: below, equal or above. Routers
are the exception: what they declare and publish travels along trees. The same holds for linkstate
peers (`routing/peer/mode`), which form one network with their routers: for a peer the north, for a
router the south:0:peer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.errors import LocalError
from zenlake.routing.forwarding.origin import ANYWHERE, NOWHERE, SOUTH_ONLY, Origin
from zenlake.wire.values.whatami import WhatAmI

if TYPE_CHECKING:
    from zenlake.routing.face import Face
    from zenlake.routing.network.sourced_region import SourcedRegion

BELOW: Final = -1
"""It declares everything to us and gets what its interests match: a client, a router's peer, or
the application."""

EQUAL: Final = 0
"""Both sides declare everything to each other: peers."""

ABOVE: Final = 1
"""We declare everything to it and get what our interests match: a gateway."""

BESIDE: Final = 2
"""Both are nodes of a network: they exchange link states, and declarations of all its nodes."""

# Rank of a role: a node stands below every node of a higher rank (behaviour reference §3.1).
_RANKS: Final = {WhatAmI.CLIENT: 0, WhatAmI.PEER: 1, WhatAmI.ROUTER: 2}


class Region:
    __slots__ = (
        "faces",
        "is_north",
        "name",
        "origin",
        "origins",
        "relays",
        "sourced",
        "unasked",
    )

    def __init__(self, name: str, *, relays: bool, is_north: bool) -> None:
        self.name = name
        """The name that users see: north, south:0:client, south:0:peer, local."""

        self.relays = relays
        """Whether messages of one of its faces may be forwarded to another one."""

        self.is_north = is_north
        self.sourced: SourcedRegion | None = None
        """The state of a region where everything travels along trees; None for other regions."""

        self.faces: list[Face] = []
        self.unasked: list[Face] = []
        """Faces that get all declarations without an interest: equal ones, those above, groups."""

        self.origins = [Origin(self, None, reach) for reach in (ANYWHERE, SOUTH_ONLY, NOWHERE)]
        """The origins of messages of the region, by reach."""

        self.origin = self.origins[ANYWHERE]

    def add(self, face: Face) -> None:
        self.faces.append(face)
        if face.position == EQUAL or face.position == ABOVE:
            self.unasked.append(face)

    def remove(self, face: Face) -> None:
        self.faces.remove(face)
        if face in self.unasked:
            self.unasked.remove(face)


def position_of(own_role: WhatAmI, role: WhatAmI) -> int:
    """The position of a neighbour; LocalError for two clients, which do not connect."""
    own_rank = _RANKS[own_role]
    rank = _RANKS[role]
    if rank == own_rank == 0:
        raise LocalError("a client cannot be connected to a client")
    if rank == own_rank:
        return BESIDE if role == WhatAmI.ROUTER else EQUAL
    return ABOVE if rank > own_rank else BELOW
