"""`Tree`: the shortest paths from one node to all others, as far as this node needs them.

Messages of a source router travel down the tree rooted at that router. All routers compute the
same tree and each forwards to its own children in it (behaviour reference §4.7).
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf

from zenlake.routing.network.node import NetworkNode


class Tree:
    __slots__ = ("children", "directions", "distances", "parent", "version")

    def __init__(self, version: int, size: int) -> None:
        self.version = version
        """The version of the graph it was computed from."""

        self.parent: NetworkNode | None = None
        """The next node from this one towards the root."""

        self.children: list[NetworkNode] = []
        """The neighbours whose next node towards the root is this one, by index."""

        self.directions: list[NetworkNode | None] = [None] * size
        """The neighbour that leads to each node, by index; None for this and unreachable nodes."""

        self.distances: list[float] = []
        """The distance of each node, by index; kept only in the tree rooted at this node."""

    def direction(self, target: NetworkNode) -> NetworkNode | None:
        if target.born > self.version or target.index >= len(self.directions):
            return None
        return self.directions[target.index]


class TreeSearch:
    """Computes a tree, in as many slices as its caller likes.

    The graph may change between two slices. The tree is then of no single version; a newer one
    follows, as every change leads to one.
    """

    __slots__ = ("_distances", "_heap", "_is_settled", "_own", "_parents", "_root", "steps", "tree")

    def __init__(self, root: NetworkNode, own: NetworkNode, version: int, size: int) -> None:
        self._root = root
        self._own = own
        self._heap: list[tuple[float, int, NetworkNode]] = [(0.0, root.number, root)]
        self._distances = [inf] * size
        self._distances[root.index] = 0.0
        self._parents: list[NetworkNode | None] = [None] * size
        self._is_settled = [False] * size
        self.tree = Tree(version, size)
        self.steps = 0
        """The steps taken so far, in all slices."""

    def run(self, steps: int) -> bool:
        """Continue for about so many steps; returns whether the tree is complete."""
        stop = self.steps + steps
        heap = self._heap
        while heap:
            if self.steps >= stop:
                return False
            _, _, node = heappop(heap)
            self.steps += 1
            if not self._is_settled[node.index]:
                self._extend_paths(node)
        self._finish()
        return True

    def _extend_paths(self, node: NetworkNode) -> None:
        """Extend the shortest path to a node to the neighbours of that node."""
        self._is_settled[node.index] = True
        parent = self._parents[node.index]
        directions = self.tree.directions
        if parent is not None and node is not self._own:
            directions[node.index] = node if parent is self._own else directions[parent.index]
        distances = self._distances
        distance = distances[node.index]
        self.steps += len(node.edges)
        for other, weight in node.edges.items():
            if other.born > self.tree.version or self._is_settled[other.index]:
                continue
            through = distance + weight
            known = distances[other.index]
            if through < known:
                distances[other.index] = through
                self._parents[other.index] = node
                heappush(self._heap, (through, other.number, other))
            elif through == known:
                # Any rule works that does not depend on a router's own psids.
                rival = self._parents[other.index]
                if rival is not None and node.number < rival.number:
                    self._parents[other.index] = node

    def _finish(self) -> None:
        """Set the next hop to all nodes that are not below this node: its parent."""
        tree = self.tree
        own = self._own
        tree.parent = self._parents[own.index]
        directions = tree.directions
        parents = self._parents
        for index, parent in enumerate(parents):
            direction = directions[index]
            if parent is own and direction is not None:
                tree.children.append(direction)
            elif direction is None and self._is_settled[index] and index != own.index:
                directions[index] = tree.parent
        if self._root is own:
            tree.distances = self._distances
