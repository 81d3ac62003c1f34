"""Units: batches of regular connections, back to back, in the order of their last packets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Units(NamedTuple):
    """Unit `i` is `data[bounds[i]:bounds[i + 1]]`, a batch without its length.

    All units of a packet are in the same object.
    """

    data: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    form: NDArray[np.uint8]
    """One of `columnar.forms`, or `assemble.batches.LAST_CLOSE`."""
    pair: NDArray[np.int32]
    """Number of the connection."""
    direction: NDArray[np.uint8]
    packet: NDArray[np.int64]
    time_ns: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pair)

    def content(self, unit: int) -> bytes:
        return self.data[self.bounds[unit] : self.bounds[unit + 1]].tobytes()
