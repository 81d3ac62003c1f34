"""`PatternIndex`: the `$*` chunks below one node of a tree.

A chunk with `$*` fixes a beginning and an end, and a text it matches has both. So patterns
are filed under the pair, and the pairs under their two lengths: for a literal chunk each
pair of lengths in use names one drawer to open. A hundred thousand patterns `sensor-1$*`,
`sensor-2$*`... have a handful of lengths, and a lookup opens a handful of drawers.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from zenlake.keyexpr.matching import chunk_intersects, fixed_ends

T = TypeVar("T")


class PatternIndex(Generic[T]):
    """A dictionary from `$*` chunks to values that can be asked for all matches."""

    __slots__ = ("_by_lengths",)

    def __init__(self) -> None:
        # lengths of the fixed ends -> the fixed ends -> pattern -> value
        self._by_lengths: dict[tuple[int, int], dict[tuple[str, str], dict[str, T]]] = {}

    def get(self, pattern: str) -> T | None:
        """The value of exactly this pattern."""
        ends = fixed_ends(pattern)
        drawers = self._by_lengths.get((len(ends[0]), len(ends[1])))
        drawer = None if drawers is None else drawers.get(ends)
        return None if drawer is None else drawer.get(pattern)

    def insert(self, pattern: str, value: T) -> None:
        """Set the value of this pattern."""
        ends = fixed_ends(pattern)
        drawers = self._by_lengths.setdefault((len(ends[0]), len(ends[1])), {})
        drawers.setdefault(ends, {})[pattern] = value

    def remove(self, pattern: str) -> None:
        """Forget this pattern, which must be there."""
        ends = fixed_ends(pattern)
        lengths = (len(ends[0]), len(ends[1]))
        drawers = self._by_lengths[lengths]
        del drawers[ends][pattern]
        if not drawers[ends]:
            del drawers[ends]
        if not drawers:
            del self._by_lengths[lengths]

    def values(self) -> list[T]:
        """All values."""
        return [
            value
            for drawers in self._by_lengths.values()
            for drawer in drawers.values()
            for value in drawer.values()
        ]

    def matching(self, chunk: str) -> list[T]:
        """The values of all patterns that match a literal chunk."""
        found: list[T] = []
        size = len(chunk)
        for (head, tail), drawers in self._by_lengths.items():
            if head + tail > size:
                continue
            drawer = drawers.get((chunk[:head], chunk[size - tail :]))
            if drawer is not None:
                found.extend(v for pattern, v in drawer.items() if chunk_intersects(pattern, chunk))
        return found

    def intersecting(self, chunk: str) -> list[T]:
        """The values of all patterns that intersect another `$*` chunk."""
        return [
            value
            for drawers in self._by_lengths.values()
            for drawer in drawers.values()
            for pattern, value in drawer.items()
            if chunk_intersects(pattern, chunk)
        ]

    def __bool__(self) -> bool:
        return bool(self._by_lengths)
