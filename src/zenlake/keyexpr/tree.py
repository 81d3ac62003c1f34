"""`KeyTree`: many key expressions, and a search for all that match another one.

A radix tree by chunks: a node is a beginning that several expressions share, and the edge to
it carries all chunks on which nothing branches.

    stored  a/b/c/d  a/b/e  a/*/c         root -- a --+-- b --+-- c/d
                                                      |       +-- e
                                                      +-- */c

    tree_node       the nodes; how they are split and merged
    pattern_index   which children with `$*` may match a literal chunk
    expr_automaton  the query, as a set of positions that each chunk moves
    search          the walk through the tree; the bound of its work

All texts must be canonical: the tree does not validate them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar, cast

from zenlake.keyexpr.search import Search
from zenlake.keyexpr.tree_node import TreeNode, first_chunk, shared_size

T = TypeVar("T")

ALL_STEPS: Final = 1 << 60
"""A number of steps that no search exceeds."""


class KeyTree(Generic[T]):
    """A dictionary from key expressions to values, with a search for all matches."""

    __slots__ = ("_root", "_size")

    def __init__(self) -> None:
        self._root: TreeNode = TreeNode("", "", None, None)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def insert(self, expr: str, value: T) -> None:
        """Set the value of `expr`."""
        node = self._root
        start = 0
        while start <= len(expr):
            chunk = first_chunk(expr, start)
            start += len(chunk) + 1
            child = node.child(chunk)
            if child is None:
                node.add_child(TreeNode(chunk, expr[start:], expr, value))
                self._size += 1
                return
            if child.rest:
                shared = shared_size(child.rest, expr, start)
                if shared < len(child.rest):
                    child.split(shared)
                if shared:
                    start += shared + 1
            node = child
        if node.expr is None:
            self._size += 1
        node.expr = expr
        node.value = value

    def get(self, expr: str) -> T | None:
        """The value of exactly `expr`, None if it is not stored."""
        path = self._path(expr)
        return cast(T | None, path[-1].value) if path else None

    def remove(self, expr: str) -> T | None:
        """Remove `expr` and the nodes that only led to it; returns its value, if any."""
        path = self._path(expr)
        if not path:
            return None
        node = path.pop()
        if node.expr is None:
            return None
        value = cast(T | None, node.value)
        node.expr = None
        node.value = None
        self._size -= 1
        if node.child_count():
            node.absorb_only_child()
            return value
        parent = path.pop()
        parent.remove_child(node.chunk)
        if path:  # the parent is not the root
            parent.absorb_only_child()
        return value

    def search(self, expr: str) -> Search[T]:
        """A search for all expressions that intersect `expr`, to be run in slices."""
        return Search(self._root, expr)

    def match_key(self, key: str) -> list[T]:
        """The values of all expressions that match `key`, which has no wildcards."""
        return self.intersecting(key)

    def intersecting(self, expr: str) -> list[T]:
        """The values of all expressions that intersect `expr`."""
        if not self._size:
            return []
        search: Search[T] = Search(self._root, expr)
        search.run(ALL_STEPS)
        return search.found

    def items(self) -> Iterator[tuple[str, T]]:
        """All expressions with their values; the tree must not change meanwhile."""
        pending = [self._root]
        while pending:
            node = pending.pop()
            if node.expr is not None:
                yield node.expr, cast(T, node.value)
            pending.extend(node.children())

    def clear_in_steps(self) -> Iterator[None]:
        """Remove everything, one node at a time: freeing a large tree at once takes long."""
        pending = [self._root]
        self._root = TreeNode("", "", None, None)
        self._size = 0
        while pending:
            node = pending.pop()
            pending.extend(node.children())
            yield

    def __iter__(self) -> Iterator[str]:
        for expr, _ in self.items():
            yield expr

    def _path(self, expr: str) -> list[TreeNode]:
        """The nodes from the root to the one at which `expr` ends; empty if there is none."""
        path = [self._root]
        start = 0
        while start <= len(expr):
            chunk = first_chunk(expr, start)
            child = path[-1].child(chunk)
            if child is None:
                return []
            start += len(chunk) + 1
            if child.rest:
                if shared_size(child.rest, expr, start) < len(child.rest):
                    return []
                start += len(child.rest) + 1
            path.append(child)
        return path
