"""Shapes of networks of routers, and a simple model of the paths through them."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

Edge = tuple[int, int]
"""A link between routers: the first listens, the second connects to it."""

ZIDS = ("a1", "b2", "c3", "d4")
"""Ids decide between paths of equal weight, so they are the same each time."""

UNSET_WEIGHT = 100


class Shape(NamedTuple):
    name: str
    edges: tuple[Edge, ...]
    size: int
    ends: tuple[int, int]
    """Two routers far from each other."""
    weights: dict[Edge, int]
    """No two paths between routers are equally long, and no two routers equally near."""
    parting: tuple[Edge, ...]
    """Links that are cut one after the other; without all of them there are two parts."""
    leaving: int
    """The router that leaves and returns; others connect to it."""


LINE = Shape(
    "line", ((0, 1), (1, 2)), 3, (0, 2), weights={(0, 1): 300}, parting=((1, 2),), leaving=1
)
RING = Shape(
    "ring",
    ((0, 1), (1, 2), (2, 3), (0, 3)),
    4,
    (0, 2),
    weights={(0, 1): 900, (1, 2): 300, (2, 3): 150},
    parting=((2, 3), (0, 1)),
    leaving=0,
)
STAR = Shape(
    "star",
    ((0, 1), (0, 2), (0, 3)),
    4,
    (1, 3),
    weights={(0, 1): 300, (0, 2): 200},
    parting=((0, 1),),
    leaving=0,
)
SHAPES = (LINE, RING, STAR)


class Graph(NamedTuple):
    """The routers and links that are there at the moment."""

    routers: frozenset[int]
    edges: frozenset[Edge]
    weights: dict[Edge, int]

    def distances(self, source: int) -> dict[int, int]:
        found = {source: 0} if source in self.routers else {}
        for _ in self.routers:
            for one, other in self.edges:
                for near, far in ((one, other), (other, one)):
                    if near in found:
                        way = found[near] + self.weight((one, other))
                        found[far] = min(way, found.get(far, way))
        return found

    def tree(self, source: int) -> Set[Edge]:
        """The links that a publication to everybody crosses."""
        far = self.distances(source)
        return {
            edge
            for edge in self.edges
            if edge[0] in far and abs(far[edge[0]] - far[edge[1]]) == self.weight(edge)
        }

    def below(self, root: int, router: int) -> list[int]:
        """The routers that the tree of a root reaches through this one, itself among them."""
        found = [router]
        far = self.distances(root)
        for one, other in sorted(self.tree(root), key=lambda edge: max(far[edge[0]], far[edge[1]])):
            near, away = (one, other) if far[one] < far[other] else (other, one)
            if near in found:
                found.append(away)
        return found

    def next_hop(self, root: int, router: int, target: int) -> int:
        """The neighbour below this router in the tree of a root that leads to the target."""
        for one, other in self.tree(root):
            for near, away in ((one, other), (other, one)):
                is_child = near == router and away in self.below(root, router)[1:]
                if is_child and target in self.below(root, away):
                    return away
        raise ValueError(f"{target} is not below {router}")

    def weight(self, edge: Edge) -> int:
        return self.weights.get(edge, UNSET_WEIGHT)
