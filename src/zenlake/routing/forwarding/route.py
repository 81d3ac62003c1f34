"""Routes: where messages on one key go, until a change makes them void."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.wire.values.wire_expr import WireExpr

if TYPE_CHECKING:
    from zenlake.routing.face import Face
    from zenlake.routing.region import Region

INCOMPLETE: Final = 0
COMPLETE: Final = 1
UNKNOWN: Final = 2
"""The face may have queryables that it has not declared to us."""


class CachedRoute:
    __slots__ = ("is_current",)

    def __init__(self) -> None:
        self.is_current = True
        """Whether the route is still valid. May be read without the node's lock."""


class Route(CachedRoute):
    """Where publications go, and how the key is written for each.

    Two lists of equal length; the source of a message may be among the faces.
    """

    __slots__ = ("exprs", "faces", "node_id", "region")

    def __init__(
        self,
        faces: list[Face],
        exprs: list[WireExpr],
        node_id: int | None = None,
        region: Region | None = None,
    ) -> None:
        super().__init__()
        self.faces = faces
        self.exprs = exprs
        self.node_id = node_id
        """The NodeId for faces of `region`: whose tree the message follows."""

        self.region = region
        """Where the message comes from, if it follows a tree there."""


class QueryRoute(CachedRoute):
    """The faces that queries may be sent to: a list for each region, the nearest first.

    The source of a query may be among the faces; the choice depends on the target (§4.5).
    """

    __slots__ = ("node_id", "region", "regions")

    def __init__(self, node_id: int | None, region: Region) -> None:
        super().__init__()
        self.node_id = node_id
        self.region = region
        """Where queries come from: `node_id` is for neighbours there, whose tree they follow."""

        self.regions: list[list[QueryCandidate]] = []


class QueryCandidate:
    """A face with a matching queryable, or one that may have one."""

    __slots__ = ("distance", "face", "knowledge")

    def __init__(self, face: Face, knowledge: int, distance: int) -> None:
        self.face = face
        self.knowledge = knowledge
        """COMPLETE for the key of the query, INCOMPLETE or UNKNOWN."""

        self.distance = distance
