"""`Origin`: messages that take the same ways, because they come from the same region."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zenlake.routing.region import Region
    from zenlake.routing.route import QueryRoute, Route


class Origin:
    __slots__ = ("query_routes", "region", "routes")

    def __init__(self, region: Region) -> None:
        self.region = region
        self.routes: dict[str, Route] = {}
        """Where its publications go, by full key; see `RouteCache`."""

        self.query_routes: dict[str, QueryRoute] = {}
