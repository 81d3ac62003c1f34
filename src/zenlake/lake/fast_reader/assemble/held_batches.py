# Parts: b451c30c1ce11e32
"""HeldBatches: the parts of unfinished batches, which are kept when the window moves on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.lake.fast_reader.assemble.batches import (
    EXTENTS_MAX,
    FREE,
    HELD,
    Extents,
    forget_batch,
    more_extents,
)
from zenlake.lake.fast_reader.scan.numbers import Bytes, Numbers, copy, uncounted_entry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class HeldBatches:
    """The extents of one pass; `counters` are those that kernels share."""

    def __init__(self, counters: NDArray[np.int64]) -> None:
        self._counters = counters
        self._carried = 0
        """End of the copied bytes in the memory of the window."""
        self.extents: Extents = more_extents(None, counters)

    @property
    def size(self) -> int:
        return int(self._counters[HELD])

    @property
    def has_room(self) -> bool:
        return bool(self._counters[FREE])

    def grow(self) -> bool:
        """Makes room for more parts; False at the limit."""
        if len(self.extents.start) >= EXTENTS_MAX:
            return False
        self.extents = more_extents(self.extents, self._counters)
        return True

    def carry(self, source: NDArray[np.uint8], first: int, target: NDArray[np.uint8]) -> bool:
        """See `file_window.Held`."""
        if not self.size or not first:
            self._carried = 0
        if not self.size:
            return True
        end = carry_extents(self.extents, source, first, target, self._carried)
        if end < 0:
            return False
        self._carried = end
        return True

    def forget(self, state: NDArray[np.int64], pairs: NDArray[np.int32]) -> None:
        """Drops the unfinished batches of these pairs."""
        forget_batches(state, pairs, self.extents, self._counters)


@uncounted_entry
def carry_extents(extents: Extents, source: Bytes, first: int, target: Bytes, to: int) -> int:
    """The end of the copies, or -1 if they do not fit. Extents that were copied are updated."""
    for extent in range(1, len(extents.start)):
        size = extents.size[extent]
        if size and extents.start[extent] >= first:
            if to + size > len(target):
                return -1
            copy(source, extents.start[extent], size, target, to)
            extents.start[extent] = to
            to += size
    return to


@uncounted_entry
def forget_batches(state: Numbers, pairs: Numbers, extents: Extents, counters: Numbers) -> None:
    for index in range(len(pairs)):
        forget_batch(state, pairs[index], 0, extents, counters)
        forget_batch(state, pairs[index], 1, extents, counters)
