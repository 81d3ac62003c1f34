"""QueryableInfo: completeness and distance of a queryable (wire reference §2.4, §11 item 1)."""

from __future__ import annotations

from zenlake._mypyc import mypyc_attr
from zenlake.errors import LocalError
from zenlake.wire.primitives import Malformed


@mypyc_attr(acyclic=True)
class QueryableInfo:
    """Whether a queryable answers for its whole key expression, and how many hops away it is."""

    __slots__ = ("complete", "distance")

    def __init__(self, complete: bool = False, distance: int = 0) -> None:
        if not 0 <= distance <= 0xFFFF:
            raise LocalError(f"a distance is 0 to 65535, not {distance}")
        self.complete = complete
        self.distance = distance

    def __str__(self) -> str:
        return f"{'complete' if self.complete else 'incomplete'}, distance {self.distance}"

    def __repr__(self) -> str:
        return f"QueryableInfo(complete={self.complete}, distance={self.distance})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, QueryableInfo)
            and self.complete == other.complete
            and self.distance == other.distance
        )

    def __hash__(self) -> int:
        return hash((self.complete, self.distance))


def queryable_info_of_number(number: int) -> QueryableInfo:
    """Deployed: a byte of flags (bit 0 complete, others ignored), the distance above it."""
    return QueryableInfo(number & 1 != 0, _distance(number >> 8))


def number_of_queryable_info(info: QueryableInfo) -> int:
    return info.distance << 8 | info.complete


def queryable_info_of_pages_number(number: int) -> QueryableInfo:
    """The page: the distance directly above the complete bit (spec-notes: QueryableInfo)."""
    return QueryableInfo(number & 1 != 0, _distance(number >> 1))


def pages_number_of_queryable_info(info: QueryableInfo) -> int:
    return info.distance << 1 | info.complete


def _distance(distance: int) -> int:
    if distance > 0xFFFF:
        raise Malformed(f"distance {distance} does not fit 16 bits")
    return distance
