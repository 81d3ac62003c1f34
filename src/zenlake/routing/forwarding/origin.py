"""`Origin`: the source of messages that take the same routes.

They come from the same region or, if other routers sent them, entered the network at the same node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.wire.values.zenoh_id import ZenohId

if TYPE_CHECKING:
    from zenlake.routing.forwarding.route import QueryRoute, Route
    from zenlake.routing.region import Region

ANYWHERE: Final = 0
SOUTH_ONLY: Final = 1
NOWHERE: Final = 2


class Origin:
    __slots__ = ("node_id", "query_routes", "reach", "region", "root", "routes")

    def __init__(self, region: Region, root: ZenohId | None, reach: int = ANYWHERE) -> None:
        self.region = region
        self.reach = reach
        """How far this node carries them; less than ANYWHERE if another gateway does (§4.4)."""

        self.root = root
        """The router whose tree they follow; None for this one."""

        self.node_id: int | None = None
        """Our NodeId for that router, in messages to other routers; None for this one."""

        self.routes: dict[str, Route] = {}
        """The routes of publications, by full key; see `RouteCache`."""

        self.query_routes: dict[str, QueryRoute] = {}
