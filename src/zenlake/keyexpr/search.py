"""`Search`: all matches of one key expression (the query) in a `KeyTree`, in any number of slices.

The search walks down the tree from the root and carries the positions of the `ExprAutomaton` that
the chunks so far lead to. If there are none, nothing below can match and the subtree is skipped.
If all positions need literal chunks, children are looked up; otherwise all are visited.

**Bound.** The unit of work is a *step*; the number of steps in a search is at most

    3 * S + C

- S is the number of chunks in the labels of the tree (never more than the stored expressions
  have together), without those below nodes that the query cannot reach;
- C counts the pairs of a stored chunk and a distinct chunk of the query of which at least
  one has `$*`: 1 + (product of their lengths) / 1,024 each. Without `$*` it is 0.

Proof. A node is put on the stack only by its parent, and only while the parent is visited. The
root is visited once, so every node is visited at most once, and a visit reads each chunk of the
node's label at most once: S steps, plus the comparisons of a chunk with `$*` against distinct
chunks of the query, each pair once: C. At the end of a visit, children are put on the stack.
Looking them up costs a step for each lookup, and there are at most as many lookups as children
among which they are looked up; each child has one parent and a label of at least one chunk: S
steps. Taking all children costs a step for each 64 of them, and one for each 8 if they are
scanned before: less than S steps. The number of `**` does not matter: a step moves all
positions together (see `ExprAutomaton`), by some operations on an int of 129 bits.

**Slices.** `run(steps_max)` stops after the visit that reaches `steps_max`, so it exceeds it by
less than one visit: the label, at most as long as a key expression, against the query, at
most 1,152 lookups, 1,024 steps to scan children, and one for each 64 of them.

**Changes between slices.** An expression that is stored during the whole search and matches is
found exactly once. One that is inserted, removed or set to a new value meanwhile may be found or
not, perhaps with its former value. `tree_node` explains why.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar, cast

from zenlake.keyexpr.expr_automaton import ExprAutomaton
from zenlake.keyexpr.pattern_index import PatternIndex
from zenlake.keyexpr.tree_node import TreeNode, WildChildren

T = TypeVar("T")

PUSHED_PER_STEP_BITS: Final = 6
"""Copying 2 to this power nodes onto the stack takes about as long as a step."""

FILTERED_PER_STEP_BITS: Final = 3
FILTERED_MAX: Final = 8_192
"""At most this many children are scanned before they are copied, 8 in a step."""

LOOKUPS_AT_ONCE_MAX: Final = 1_024
"""If a `PatternIndex` needs more lookups than this, its patterns are visited instead."""


class Search(Generic[T]):
    """One search: the values of all expressions below a root that intersect the query."""

    __slots__ = ("_automaton", "_nodes", "_positions", "found")

    def __init__(self, root: TreeNode, expr: str) -> None:
        self._automaton = ExprAutomaton(expr)

        self._nodes: list[TreeNode] = [root]
        """The nodes still to be visited."""

        self._positions: list[int] = [1 | ((1 & self._automaton.doubles) << 1)]
        """The positions after the first chunk of each node; if that is unread, before it.

        Positions before the chunk are inverted, which makes them negative.
        """

        self.found: list[T] = []
        """The values found so far. The owner may remove them between two runs."""

    @property
    def steps(self) -> int:
        """The work done so far."""
        return self._automaton.steps

    def run(self, steps_max: int) -> bool:
        """Continue for about `steps_max` steps; returns whether the search is finished."""
        automaton = self._automaton
        nodes = self._nodes
        stop = automaton.steps + steps_max
        while nodes and automaton.steps < stop:
            node = nodes.pop()
            positions = self._positions.pop()
            if positions < 0:
                positions = automaton.after_any(~positions, node.chunk)
            if automaton.wild or positions & (positions - 1):
                self._visit(node, positions)
            elif positions:
                self._visit_literal(node, positions.bit_length() - 1, stop)
        return not nodes

    def _visit(self, node: TreeNode, positions: int) -> None:
        """Read the rest of a label, note the entry and put children on the stack."""
        automaton = self._automaton
        automaton.steps += 1
        if node.rest and positions:
            positions = automaton.after_run(positions, node.rest)
        if not positions:
            return
        if positions & automaton.end and node.expr is not None:
            self.found.append(cast(T, node.value))
        if node.wild is not None:
            self._push_wild(node.wild, positions)
        if node.literals is not None and positions & ~automaton.end:
            self._push_literals(node.literals, positions)

    def _visit_literal(self, node: TreeNode, position: int, stop: int) -> None:
        """The same as `_visit`, for a query without wildcards that is at one position only.

        Only one literal child can match, and the loop continues with it. This is the case of most
        publications.
        """
        automaton = self._automaton
        chunks = automaton.chunks
        while automaton.steps < stop:
            automaton.steps += 1
            if node.rest:
                if "*" in node.rest:
                    self._visit(node, 1 << position)
                    return
                run = node.rest.split("/")
                automaton.steps += len(run)
                if chunks[position : position + len(run)] != run:
                    return
                position += len(run)
            if node.wild is not None:
                self._push_wild(node.wild, 1 << position)
            if position == len(chunks):
                if node.expr is not None:
                    self.found.append(cast(T, node.value))
                return
            child = None if node.literals is None else node.literals.get(chunks[position])
            if child is None:
                return
            automaton.steps += 1
            position += 1
            node = child
        self._nodes.append(node)
        self._positions.append(1 << position)

    def _push_literals(self, literals: dict[str, TreeNode], positions: int) -> None:
        """Put those literal children on the stack that these positions may lead to."""
        automaton = self._automaton
        places = automaton.places
        if positions & automaton.wild:
            children = list(literals.values())
            if len(children) <= FILTERED_MAX and automaton.only_end_after_others(positions):
                automaton.steps += len(children) >> FILTERED_PER_STEP_BITS
                children = [
                    child
                    for child in children
                    if child.expr is not None
                    or child.rest
                    or child.wild is not None
                    or child.chunk in places
                ]
            self._push_unread(children, positions)
            return
        automaton.steps += min(len(places), len(literals))
        chunks = places.keys() & literals.keys()  # looks up the smaller set in the larger
        for chunk in sorted(chunks) if len(chunks) > 1 else chunks:
            after = (places[chunk] & positions) << 1
            if after:
                self._nodes.append(literals[chunk])
                self._positions.append(after | ((after & automaton.doubles) << 1))

    def _push_wild(self, wild: WildChildren, positions: int) -> None:
        """Put those children by wildcards on the stack that these positions may lead to."""
        automaton = self._automaton
        if wild.double is not None:
            self._nodes.append(wild.double)
            self._positions.append(automaton.after_double(positions))
        if wild.single is not None:
            self._nodes.append(wild.single)
            self._positions.append(automaton.after_single(positions))
        if wild.patterns is not None and positions & automaton.free:
            self._push_patterns(wild.patterns, positions)

    def _push_patterns(self, patterns: PatternIndex[TreeNode], positions: int) -> None:
        """Put those children by `$*` chunks on the stack that may match at these positions."""
        automaton = self._automaton
        free = positions & automaton.free
        if free & automaton.wild:
            self._push_unread(patterns.values(), positions)
            return
        texts = automaton.texts_at(free)
        lookups = len(patterns.lengths) * len(texts)
        if 0 < lookups <= LOOKUPS_AT_ONCE_MAX and lookups <= len(patterns):
            automaton.steps += lookups
            candidates = patterns.candidates(texts)
            if candidates:
                self._push_unread(candidates, positions)
        else:
            self._push_unread(patterns.values(), positions)

    def _push_unread(self, nodes: list[TreeNode], positions: int) -> None:
        """Put nodes on the stack whose first chunks are not read yet."""
        self._nodes.extend(nodes)
        self._positions.extend([~positions] * len(nodes))
        self._automaton.steps += len(nodes) >> PUSHED_PER_STEP_BITS
