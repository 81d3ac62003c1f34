"""Units: batches of regular pairs, back to back, in the order of their last packets."""

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
    """One of `columnar.forms`, or `batches.LAST_CLOSE`."""
    pair: NDArray[np.int32]
    direction: NDArray[np.uint8]
    """As in `Link`: 0 is sent by the end that is named first."""
    packet: NDArray[np.int64]
    """The number of the packet that completed each batch."""
    time_ns: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pair)

    def content(self, unit: int) -> bytes:
        return self.data[self.bounds[unit] : self.bounds[unit + 1]].tobytes()
