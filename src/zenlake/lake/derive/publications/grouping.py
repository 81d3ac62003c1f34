"""Groups of equal rows: numbers for them, and the minimum, maximum and count of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.int64]"
Flags: TypeAlias = "NDArray[np.bool_]"
NO_MIN: Final = np.iinfo(np.int64).max
"""The minimum of a group without values."""
NO_MAX: Final = np.iinfo(np.int64).min
_BITS_MAX: Final = 62
_SHORT_BITS: Final = 28
"""Numbers of at most this many bits are used directly, others are replaced by their ranks."""


def ranks(*columns: Numbers) -> Numbers:
    """The rank of each row among the distinct rows, from 0; the first column is compared first."""
    return _ranks(_packed(columns))


def order_of(*columns: Numbers) -> Numbers:
    """The indices that sort the rows; the first column is compared first."""
    return np.argsort(_packed(columns))


def _ranks(values: Numbers) -> Numbers:
    order = np.argsort(values)
    ordered = values[order]
    is_new = np.zeros(len(ordered), np.int64)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:], casting="unsafe")
    found = np.empty(len(values), np.int64)
    found[order] = np.cumsum(is_new)
    return found


def _packed(columns: Sequence[Numbers]) -> Numbers:
    """One number for each row that sorts like its columns: one sort instead of one per column."""
    found, used = np.zeros(len(columns[0]), np.int64), 0
    for column in columns:
        is_short = column.min(initial=0) >= 0 and column.max(initial=0) < 1 << _SHORT_BITS
        codes = column if is_short else _ranks(column)
        bits = int(codes.max(initial=0)).bit_length()
        if used + bits > _BITS_MAX:
            found = _ranks(found)
            used = int(found.max(initial=0)).bit_length()
        found, used = found << bits | codes, used + bits
    return found


def distinct(values: Numbers) -> Numbers:
    """The distinct values, sorted. NumPy's `unique` uses a hash table, which takes longer."""
    ordered: Numbers = np.sort(values)
    return ordered[starts_of(ordered)]


def starts_of(*columns: Numbers) -> Numbers:
    """The indices at which a group of equal adjacent rows begins."""
    count = len(columns[0])
    is_start = np.zeros(count, np.bool_)
    is_start[:1] = True
    for column in columns:
        is_start[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(is_start)


class Groups:
    """Groups of adjacent rows. Arguments have a value for each row, results one for each group."""

    def __init__(self, starts: Numbers, count: int) -> None:
        self.starts = starts
        self.sizes = np.diff(np.append(starts, count))
        """The number of rows of each group."""

    @classmethod
    def of_equal(cls, *columns: Numbers) -> Groups:
        """A group for each run of equal rows."""
        return cls(starts_of(*columns), len(columns[0]))

    def select(self, chosen: Flags) -> Groups:
        """The chosen groups, of the rows that remain if all others are removed."""
        sizes = self.sizes[chosen]
        stops = np.cumsum(sizes)
        return Groups(stops - sizes, int(stops[-1]) if len(stops) else 0)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def numbers(self) -> Numbers:
        """For each row the number of its group."""
        found: Numbers = self.to_rows(np.arange(len(self)))
        return found

    @property
    def places(self) -> Numbers:
        """For each row its index within its group, from 0."""
        found: Numbers = np.arange(int(self.sizes.sum())) - self.to_rows(self.starts)
        return found

    def to_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, self.sizes)

    def min(self, values: Numbers, chosen: Flags | None = None) -> Numbers:
        """The minimum of the chosen values of each group; `NO_MIN` if it has none."""
        return self._reduce(np.minimum, values, NO_MIN, chosen)

    def max(self, values: Numbers, chosen: Flags | None = None) -> Numbers:
        """The maximum of the chosen values of each group; `NO_MAX` if it has none."""
        return self._reduce(np.maximum, values, NO_MAX, chosen)

    def count(self, chosen: Flags) -> Numbers:
        return self.sum(chosen.astype(np.int64))

    def sum(self, values: Numbers) -> Numbers:
        return self._reduce(np.add, values, 0, None)

    def all(self, chosen: Flags) -> Flags:
        is_all: Flags = self.count(chosen) == self.sizes
        return is_all

    def count_distinct(self, values: Numbers, chosen: Flags | None = None) -> Numbers:
        """The number of distinct chosen values of each group."""
        groups, given = self.numbers, values
        if chosen is not None:
            groups, given = groups[chosen], values[chosen]
        pairs = order_of(groups, given)
        groups, given = groups[pairs], given[pairs]
        return np.bincount(groups[starts_of(groups, given)], minlength=len(self))

    def _reduce(
        self, reduce: np.ufunc, values: Numbers, nothing: int, chosen: Flags | None
    ) -> Numbers:
        if not len(self):
            return np.zeros(0, np.int64)
        given = values if chosen is None else np.where(chosen, values, nothing)
        found: Numbers = reduce.reduceat(given, self.starts)
        return found


def are_in(pairs: tuple[Numbers, Numbers], others: tuple[Numbers, Numbers]) -> Flags:
    """For each pair of numbers, whether it is among `others`."""
    count = len(pairs[0])
    found = _packed([np.concatenate(both) for both in zip(pairs, others, strict=True)])
    # NumPy's `isin` hashes all values, which takes longer than a binary search.
    known: Numbers = np.append(np.sort(found[count:]), NO_MIN)
    is_in: Flags = known[np.searchsorted(known, found[:count])] == found[:count]
    return is_in
