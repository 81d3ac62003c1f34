"""Ranges: the parts of a file that a task reads, between marks that a survey left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANGE_GAP_BYTES: Final = 8 << 20
"""Less than this is read over: another request to a store takes as long."""


def ranges_of(
    marks: NDArray[np.int64], end: tuple[int, int], stretches: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The stretches that are wanted, of those that begin at marks; rows as `reading.Range`.

    `end` is what a mark at the end of the file would be.
    """
    bounds = np.vstack((marks, np.array([end], np.int64)))
    wanted = np.flatnonzero(stretches)
    if not len(wanted):
        return np.zeros((0, 4), np.int64)
    gaps = bounds[wanted[1:], 0] - bounds[wanted[:-1] + 1, 0]
    is_apart = gaps >= RANGE_GAP_BYTES
    starts = bounds[wanted[np.append(True, is_apart)]]
    stops = bounds[wanted[np.append(is_apart, True)] + 1]
    return np.column_stack((starts[:, 0], stops[:, 0], starts[:, 1], stops[:, 1] - starts[:, 1]))
