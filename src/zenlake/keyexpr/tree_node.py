"""`TreeNode`: a node of `KeyTree`.

A node represents a beginning that stored expressions share. Its *label* is the run of chunks
from its parent's beginning to its own: a first chunk, by which the parent finds it, and a rest.
Nodes exist only where expressions end or branch, so a tree of `n` expressions has at most `2n`
nodes besides the root, independent of their lengths.

A running search holds nodes that it has still to visit, each with the positions before the
node's label or after its first chunk. Splitting and merging keep such nodes valid:

- `split` keeps the node itself as the upper half, so that its label still starts where it did;
- `absorb_only_child` (the merge) copies the content of the child into the node. The child leaves
  the tree but stays as it was, for searches that have visited the node and hold the child. Both
  share the child's dictionaries, and no change ever replaces one node by another in a dictionary.

A node may have 100,000 children, and a router several such trees. Python's garbage collector
stops all threads while it traverses all objects that may be part of a cycle, so nodes are excluded
(`acyclic`, which generic classes cannot be: `KeyTree` has the type of the values). If values refer
back to the tree, its owner must clear the tree at the end.
"""

from __future__ import annotations

from sys import getsizeof

from zenlake._mypyc import mypyc_attr
from zenlake.keyexpr.pattern_index import SPARE_BYTES_MAX, SPARE_BYTES_PER_CHILD_MAX, PatternIndex


class WildChildren:
    """The children of a node whose labels start with a wildcard.

    The garbage collector tracks this class: freeing a chain of thousands of nodes recurses, and
    Python limits that recursion only for tracked objects.
    """

    __slots__ = ("double", "patterns", "single")

    def __init__(self) -> None:
        self.single: TreeNode | None = None
        """The child by `*`."""

        self.double: TreeNode | None = None
        """The child by `**`."""

        self.patterns: PatternIndex[TreeNode] | None = None
        """The children by chunks with `$*`."""

    def __len__(self) -> int:
        count = 0 if self.patterns is None else len(self.patterns)
        return count + (self.single is not None) + (self.double is not None)

    def all(self) -> list[TreeNode]:
        children = [] if self.patterns is None else self.patterns.values()
        if self.single is not None:
            children.append(self.single)
        if self.double is not None:
            children.append(self.double)
        return children


@mypyc_attr(acyclic=True)
class TreeNode:
    """A beginning shared by the expressions stored at and below it."""

    __slots__ = ("chunk", "expr", "literals", "rest", "value", "wild")

    def __init__(self, chunk: str, rest: str, expr: str | None, value: object) -> None:
        self.chunk = chunk
        """The first chunk of the label; the root has none."""

        self.rest = rest
        """The chunks of the label after the first, empty if there are none."""

        self.expr = expr
        """The expression that ends here, if any."""

        self.value = value
        """The value of that expression."""

        self.literals: dict[str, TreeNode] | None = None
        """Children by first chunk, literal or verbatim; None if there are none."""

        self.wild: WildChildren | None = None
        """Children by `*`, `**` and `$*`; None if there are none."""

    def child(self, chunk: str) -> TreeNode | None:
        """The child whose label starts with exactly this chunk."""
        if "*" not in chunk or chunk[0] == "@":
            return None if self.literals is None else self.literals.get(chunk)
        wild = self.wild
        if wild is None:
            return None
        if chunk == "*":
            return wild.single
        if chunk == "**":
            return wild.double
        return None if wild.patterns is None else wild.patterns.get(chunk)

    def add_child(self, child: TreeNode) -> None:
        """Add a child; there must be none with the same first chunk."""
        chunk = child.chunk
        if "*" not in chunk or chunk[0] == "@":
            if self.literals is None:
                self.literals = {}
            self.literals[chunk] = child
            return
        wild = self.wild
        if wild is None:
            wild = self.wild = WildChildren()
        if chunk == "*":
            wild.single = child
        elif chunk == "**":
            wild.double = child
        else:
            if wild.patterns is None:
                wild.patterns = PatternIndex()
            wild.patterns.insert(chunk, child)

    def remove_child(self, chunk: str) -> None:
        """Remove the child by this first chunk, which must be there."""
        if "*" not in chunk or chunk[0] == "@":
            if self.literals is not None:
                del self.literals[chunk]
                self.literals = _compact(self.literals)
            return
        wild = self.wild
        if wild is None:
            return
        if chunk == "*":
            wild.single = None
        elif chunk == "**":
            wild.double = None
        elif wild.patterns is not None:
            wild.patterns.remove(chunk)
            if not len(wild.patterns):
                wild.patterns = None
        if not len(wild):
            self.wild = None

    def children(self) -> list[TreeNode]:
        found = [] if self.wild is None else self.wild.all()
        if self.literals is not None:
            found.extend(self.literals.values())
        return found

    def child_count(self) -> int:
        count = 0 if self.literals is None else len(self.literals)
        return count if self.wild is None else count + len(self.wild)

    def split(self, size: int) -> None:
        """Keep the first `size` characters of the rest; move the other ones to a new child."""
        below = self.rest[size + 1 :] if size else self.rest
        chunk = first_chunk(below, 0)
        lower: TreeNode = TreeNode(chunk, below[len(chunk) + 1 :], self.expr, self.value)
        lower.literals = self.literals
        lower.wild = self.wild
        self.rest = self.rest[:size]
        self.expr = None
        self.value = None
        self.literals = None
        self.wild = None
        self.add_child(lower)

    def absorb_only_child(self) -> None:
        """Merge with the child, if nothing ends or branches here."""
        if self.expr is not None or self.child_count() != 1:
            return
        lower = self.children()[0]
        self.rest = "/".join(run for run in (self.rest, lower.chunk, lower.rest) if run)
        self.expr = lower.expr
        self.value = lower.value
        self.literals = lower.literals
        self.wild = lower.wild


def first_chunk(text: str, start: int) -> str:
    """The chunk of `text` that starts at a character."""
    end = text.find("/", start)
    return text[start:] if end < 0 else text[start:end]


def shared_size(rest: str, expr: str, start: int) -> int:
    """How many characters of `rest` are whole chunks that `expr` has too, from `start` on."""
    size = len(rest)
    if expr.startswith(rest, start) and (start + size == len(expr) or expr[start + size] == "/"):
        return size
    shared = -1
    for ours, theirs in zip(rest.split("/"), expr[start:].split("/"), strict=False):
        if ours != theirs:
            break
        shared += 1 + len(ours)
    return max(shared, 0)


def _compact(children: dict[str, TreeNode]) -> dict[str, TreeNode] | None:
    """The same children in a dictionary without much unused room; None if there are none."""
    if not children:
        return None
    if getsizeof(children) > SPARE_BYTES_MAX + SPARE_BYTES_PER_CHILD_MAX * len(children):
        return dict(children)
    return children
