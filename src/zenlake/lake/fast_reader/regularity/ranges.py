"""Ranges: the parts of a file that a task reads, between the marks of a survey."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANGE_GAP_BYTES: Final = 8 << 20
"""A smaller gap is read as well: another request to a store takes as long."""


def ranges_of(
    marks: NDArray[np.int64], end: tuple[int, int], stretches: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The wanted stretches, joined where gaps are small. Rows are those of `capture_pass.Range`.

    A stretch lies between two marks; `end` is the mark at the end of the file.
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
