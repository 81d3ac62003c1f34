"""`PatternIndex`: the children of one tree node whose first chunk has `$*`.

A pattern has a fixed beginning and a fixed end, and every text it matches has both. The index has
the pairs of lengths (beginning, end) of its patterns. For a literal chunk, each pair defines one
*frame*, the chunk's own beginning and end around a `$*`, which is looked up in a dictionary.
A hundred thousand patterns `sensor-1$*`, `sensor-2$*`... have a handful of pairs.

A few patterns are not worth an index: below `INDEXED_MIN` there is only the dictionary.
"""

from __future__ import annotations

from sys import getsizeof
from typing import Final, Generic, TypeVar

from zenlake.keyexpr.matching import fixed_ends

T = TypeVar("T")

INDEXED_MIN: Final = 8
"""From this number of patterns on there is an index; below half of it the index is dropped."""


SPARE_BYTES_MAX: Final = 512
SPARE_BYTES_PER_CHILD_MAX: Final = 256
"""A dictionary of children larger than this is rebuilt when one is removed."""


class PatternIndex(Generic[T]):
    """A dictionary from `$*` chunks to values, with an index for matching literal chunks."""

    __slots__ = ("_by_frame", "_by_pattern", "lengths")

    def __init__(self) -> None:
        self._by_pattern: dict[str, T] = {}

        self.lengths: dict[tuple[int, int], int] = {}
        """How many patterns have each pair of lengths; empty while there is no index.

        `candidates` makes one lookup for each pair and chunk."""

        self._by_frame: dict[str, dict[str, T]] = {}
        """The patterns with several `$*` by frame; one with a single `$*` is its own frame."""

    def __len__(self) -> int:
        return len(self._by_pattern)

    def get(self, pattern: str) -> T | None:
        """The value of exactly this pattern."""
        return self._by_pattern.get(pattern)

    def insert(self, pattern: str, value: T) -> None:
        """Set the value of this pattern, which must not be there yet."""
        self._by_pattern[pattern] = value
        if self.lengths:
            self._index(pattern, value)
        elif len(self._by_pattern) >= INDEXED_MIN:
            for known, known_value in self._by_pattern.items():
                self._index(known, known_value)

    def remove(self, pattern: str) -> None:
        """Remove this pattern, which must be there."""
        del self._by_pattern[pattern]
        if not self.lengths:
            return
        if len(self._by_pattern) < INDEXED_MIN // 2:
            self.lengths = {}
            self._by_frame = {}
            self._by_pattern = dict(self._by_pattern)
            return
        head, tail = fixed_ends(pattern)
        pair = (len(head), len(tail))
        if self.lengths[pair] == 1:
            del self.lengths[pair]
        else:
            self.lengths[pair] -= 1
        frame = f"{head}$*{tail}"
        if frame != pattern:
            del self._by_frame[frame][pattern]
            if not self._by_frame[frame]:
                del self._by_frame[frame]
        size = len(self._by_pattern)
        if getsizeof(self._by_pattern) > SPARE_BYTES_MAX + SPARE_BYTES_PER_CHILD_MAX * size:
            # Dictionaries never shrink: make new ones.
            self._by_pattern = dict(self._by_pattern)
            self.lengths = dict(self.lengths)
            self._by_frame = {key: dict(found) for key, found in self._by_frame.items()}

    def values(self) -> list[T]:
        """The values of all patterns."""
        return list(self._by_pattern.values())

    def candidates(self, chunks: list[str]) -> list[T]:
        """The values of all patterns whose fixed ends fit one of these literal chunks, once each.

        A pattern with several `$*` may still not match.
        """
        if not self.lengths:
            return self.values()
        frames: dict[str, None] = {}
        for chunk in chunks:
            size = len(chunk)
            for head, tail in self.lengths:
                if head + tail <= size:
                    frames[f"{chunk[:head]}$*{chunk[size - tail :]}"] = None
        found: list[T] = []
        for frame in frames:
            if frame in self._by_pattern:
                found.append(self._by_pattern[frame])
            if frame in self._by_frame:
                found.extend(self._by_frame[frame].values())
        return found

    def _index(self, pattern: str, value: T) -> None:
        head, tail = fixed_ends(pattern)
        pair = (len(head), len(tail))
        self.lengths[pair] = self.lengths.get(pair, 0) + 1
        frame = f"{head}$*{tail}"
        if frame != pattern:
            self._by_frame.setdefault(frame, {})[pattern] = value
