"""Byte ranges of the buffer as an Arrow array that owns its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zenlake.columnar.jit import entry
from zenlake.columnar.memory import handle_of, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.columnar.memory import Buffer, Numbers


def copied_stretches(
    data: NDArray[np.uint8],
    offsets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    present: NDArray[np.bool_],
) -> pa.Array:
    """Binary values, null where not `present`. A cast of Arrow's views takes much longer."""
    ends = np.zeros(len(offsets) + 1, np.int64)
    np.cumsum(np.where(present, lengths, 0), out=ends[1:])
    out = np.empty(int(ends[-1]), np.uint8)
    _copy(handle_of(data), offsets, ends, out)
    validity = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    buffers = [validity, pa.py_buffer(ends), pa.py_buffer(out)]
    # The cast shares the bytes, and checks that they fit into 2 GiB.
    return pa.Array.from_buffers(pa.large_binary(), len(offsets), buffers).cast(pa.binary())


@entry
def _copy(buf: Buffer, offsets: Numbers, ends: Numbers, out: Numbers) -> None:
    for row in range(len(offsets)):
        start, first, end = int(offsets[row]), int(ends[row]), int(ends[row + 1])
        for index in range(end - first):
            out[first + index] = load(buf, start + index)
