"""`KeyTree`: many key expressions, asked all at once which of them match.

A tree with one level per chunk. Looking up walks the question's chunks from left to right
with a *front*: all nodes that the chunks so far can lead to. Each chunk moves the front one
level down, and a node whose last chunk is `**` (a *gap*) also stays where it is.

    stored  a/*/c  a/**  **/c           question  a/b/c
    front after nothing   root, `**`
    front after a         `a`, `a/**`, `**`
    front after a/b       `a/*`, `a/**`, `**`
    front after a/b/c     `a/*/c`, `a/**`, `**`, `**/c`       three hits (`**` is not stored)

A front holds each node once, so a question costs at most its number of chunks times the
number of nodes, however many `**` there are on either side; a literal key usually meets
a few nodes per chunk. Fronts are dictionaries because these keep the order of insertion,
which makes answers repeatable.

All texts must be canonical: the tree stores and asks, it does not validate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from zenlake.keyexpr.matching import chunk_intersects
from zenlake.keyexpr.pattern_index import PatternIndex

T = TypeVar("T")


class Node(Generic[T]):
    """What may follow the chunks on the way to here."""

    __slots__ = ("double", "entry", "is_gap", "literals", "patterns", "single")

    def __init__(self, is_gap: bool) -> None:
        self.is_gap = is_gap
        """Whether the last chunk on the way to here is `**`."""

        self.entry: tuple[str, T] | None = None
        """The expression stored here and its value, None if there is none."""

        self.literals: dict[str, Node[T]] = {}
        """Children by literal or verbatim chunk."""

        self.single: Node[T] | None = None
        """The child after `*`."""

        self.double: Node[T] | None = None
        """The child after `**`; a gap has none, nor a `single`, in canonical expressions."""

        self.patterns: PatternIndex[Node[T]] | None = None
        """Children by chunk with `$*`."""

    def is_empty(self) -> bool:
        """Whether nothing is stored here or below."""
        return (
            self.entry is None
            and not self.literals
            and self.single is None
            and self.double is None
            and not self.patterns
        )

    def child(self, chunk: str) -> Node[T] | None:
        """The child by exactly this chunk."""
        if chunk == "*":
            return self.single
        if chunk == "**":
            return self.double
        if is_pattern(chunk):
            return None if self.patterns is None else self.patterns.get(chunk)
        return self.literals.get(chunk)

    def add_child(self, chunk: str) -> Node[T]:
        """A new child by this chunk, which must have none yet."""
        child: Node[T] = Node(chunk == "**")
        if chunk == "*":
            self.single = child
        elif chunk == "**":
            self.double = child
        elif is_pattern(chunk):
            if self.patterns is None:
                self.patterns = PatternIndex()
            self.patterns.insert(chunk, child)
        else:
            self.literals[chunk] = child
        return child

    def remove_child(self, chunk: str) -> None:
        """Forget the child by this chunk, which must be there."""
        if chunk == "*":
            self.single = None
        elif chunk == "**":
            self.double = None
        elif is_pattern(chunk) and self.patterns is not None:
            self.patterns.remove(chunk)
        else:
            del self.literals[chunk]

    def wild_children(self) -> list[Node[T]]:
        """The children by `*`, `**` and `$*`."""
        children = [] if self.patterns is None else self.patterns.values()
        if self.single is not None:
            children.append(self.single)
        if self.double is not None:
            children.append(self.double)
        return children


class KeyTree(Generic[T]):
    """A dictionary from key expressions to values that can be asked for all matches."""

    __slots__ = ("_root", "_size")

    def __init__(self) -> None:
        self._root: Node[T] = Node(False)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def insert(self, expr: str, value: T) -> None:
        """Set the value of `expr`."""
        node = self._root
        for chunk in expr.split("/"):
            child = node.child(chunk)
            node = node.add_child(chunk) if child is None else child
        if node.entry is None:
            self._size += 1
        node.entry = (expr, value)

    def get(self, expr: str) -> T | None:
        """The value of exactly `expr`, None if it is not stored."""
        node: Node[T] | None = self._root
        for chunk in expr.split("/"):
            if node is None:
                return None
            node = node.child(chunk)
        return None if node is None or node.entry is None else node.entry[1]

    def remove(self, expr: str) -> T | None:
        """Forget `expr` and the nodes that only led to it; returns its value, if any."""
        chunks = expr.split("/")
        path = [self._root]
        for chunk in chunks:
            child = path[-1].child(chunk)
            if child is None:
                return None
            path.append(child)
        node = path.pop()
        if node.entry is None:
            return None
        value = node.entry[1]
        node.entry = None
        self._size -= 1
        while path and node.is_empty():
            node = path.pop()
            node.remove_child(chunks[len(path)])
        return value

    def match_key(self, key: str) -> list[T]:
        """The values of all expressions that match `key`, which has no wildcards."""
        front = self._start()
        for chunk in key.split("/"):
            front = _step_literal(front, chunk)
        return _values(front)

    def intersecting(self, expr: str) -> list[T]:
        """The values of all expressions that intersect `expr`."""
        front = self._start()
        for chunk in expr.split("/"):
            if chunk == "**":
                front = _descend(front)
            elif chunk == "*" or is_pattern(chunk):
                front = _step_wild(front, chunk)
            else:
                front = _step_literal(front, chunk)
        return _values(front)

    def items(self) -> Iterator[tuple[str, T]]:
        """All expressions with their values; the tree must not change meanwhile."""
        pending = [self._root]
        while pending:
            node = pending.pop()
            if node.entry is not None:
                yield node.entry
            pending.extend(node.literals.values())
            pending.extend(node.wild_children())

    def __iter__(self) -> Iterator[str]:
        for expr, _ in self.items():
            yield expr

    def _start(self) -> dict[Node[T], None]:
        front: dict[Node[T], None] = {}
        _enter(front, self._root)
        return front


def is_pattern(chunk: str) -> bool:
    """Whether a chunk is one with `$*`; in a verbatim chunk `$*` is ordinary text."""
    return "$" in chunk and chunk[0] != "@"


def _values(front: dict[Node[T], None]) -> list[T]:
    return [node.entry[1] for node in front if node.entry is not None]


def _enter(front: dict[Node[T], None], node: Node[T]) -> None:
    """Put a node on the front, and what follows it by an empty `**`."""
    front[node] = None
    if node.double is not None:
        front[node.double] = None


def _step_literal(front: dict[Node[T], None], chunk: str) -> dict[Node[T], None]:
    """The front after a chunk without wildcards."""
    verbatim = chunk[0] == "@"
    following: dict[Node[T], None] = {}
    for node in front:
        child = node.literals.get(chunk)
        if child is not None:
            _enter(following, child)
        if verbatim:
            continue
        if node.is_gap:
            following[node] = None
        if node.single is not None:
            _enter(following, node.single)
        if node.patterns is not None:
            for child in node.patterns.matching(chunk):
                _enter(following, child)
    return following


def _step_wild(front: dict[Node[T], None], chunk: str) -> dict[Node[T], None]:
    """The front after `*` or a chunk with `$*`: here every child must be looked at."""
    following: dict[Node[T], None] = {}
    for node in front:
        for literal, child in node.literals.items():
            if chunk_intersects(literal, chunk):
                _enter(following, child)
        if node.is_gap:
            following[node] = None
        if node.single is not None:
            _enter(following, node.single)
        if node.patterns is not None:
            for child in node.patterns.intersecting(chunk):
                _enter(following, child)
    return following


def _descend(front: dict[Node[T], None]) -> dict[Node[T], None]:
    """The front after `**`: everything below that needs no verbatim chunk."""
    following: dict[Node[T], None] = {}
    pending = list(front)
    while pending:
        node = pending.pop()
        if node in following:
            continue
        following[node] = None
        pending.extend(child for chunk, child in node.literals.items() if chunk[0] != "@")
        pending.extend(node.wild_children())
    return following
