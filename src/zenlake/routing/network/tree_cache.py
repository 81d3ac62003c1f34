"""`TreeCache`: the trees in use, and when they are computed again."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from zenlake.routing.network.graph import NetworkGraph
from zenlake.routing.network.node import NetworkNode
from zenlake.routing.network.trees import Tree, TreeSearch
from zenlake.routing.work import UNLIMITED, Work

TREES_INTERVAL_S: Final = 0.1
"""Trees are computed again at most this often (behaviour reference §4.7)."""


class TreeCache:
    """Computes a tree at the first use of its root, and again after changes, as a job."""

    __slots__ = ("_computed_at", "_due_at", "_graph", "_noted_version", "_trees", "_work")

    def __init__(self, graph: NetworkGraph, work: Work) -> None:
        self._graph = graph
        self._work = work
        own_tree = Tree(-1, graph.size)
        own_tree.distances = [0.0]
        self._trees: dict[NetworkNode, Tree] = {graph.own: own_tree}
        self._noted_version = graph.version
        self._computed_at = -TREES_INTERVAL_S
        self._due_at: float | None = None

    def note_changes(self, now: float) -> None:
        """Note a change of the graph."""
        if self._noted_version != self._graph.version:
            self._noted_version = self._graph.version
            if self._due_at is None:
                self._due_at = max(now, self._computed_at + TREES_INTERVAL_S)

    def forget_child(self, node: NetworkNode) -> None:
        """Count a child as gained later: its link is new, and it must get all declarations."""
        for root in self._trees:
            self.forget_child_of(root, node)

    def forget_child_of(self, root: NetworkNode, node: NetworkNode) -> None:
        """Count a child as gained later, for the declarations of one root."""
        tree = self._trees.get(root)
        if tree is not None and node in tree.children:
            tree.children.remove(node)
            self._graph.version += 1

    def remove_root(self, node: NetworkNode) -> None:
        self._trees.pop(node, None)

    def next_deadline(self) -> float | None:
        return self._due_at

    def handle_timeout(self, now: float) -> bool:
        if self._due_at is None or now < self._due_at:
            return False
        self._due_at = None
        self._computed_at = now
        return True

    def stale_roots(self) -> list[NetworkNode]:
        version = self._graph.version
        return [root for root, tree in self._trees.items() if tree.version < version]

    def update(self, root: NetworkNode) -> Generator[None, None, list[NetworkNode]]:
        """Compute a tree again, in as many slices as it takes; the children that it gained."""
        tree = yield from self._search(root)
        old = self._trees.get(root)
        if old is None:
            return []
        self._trees[root] = tree
        return [child for child in tree.children if child not in old.children]

    def find(self, root: NetworkNode) -> Generator[None, None, Tree]:
        """The tree in use; for a root without one, a tree that is not kept."""
        tree = self._trees.get(root)
        if tree is None:
            tree = yield from self._search(root)
        return tree

    def _search(self, root: NetworkNode) -> Generator[None, None, Tree]:
        graph = self._graph
        work = self._work
        search = TreeSearch(root, graph.own, graph.version, graph.size)
        before = 0
        while not search.run(max(1, work.steps)):
            work.steps -= search.steps - before
            before = search.steps
            yield
        work.steps -= search.steps - before
        return search.tree

    def get(self, root: NetworkNode) -> Tree:
        """The tree in use; it may be older than the graph by a tenth of a second."""
        tree = self._trees.get(root)
        if tree is None:
            tree = self.compute(root)
            self._trees[root] = tree
        return tree

    def compute(self, root: NetworkNode) -> Tree:
        """A tree of the graph as it is, at once."""
        graph = self._graph
        search = TreeSearch(root, graph.own, graph.version, graph.size)
        search.run(UNLIMITED)
        self._work.steps -= search.steps
        return search.tree
