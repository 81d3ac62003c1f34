"""Byte ranges of the buffer as Arrow's views: four words each, without a copy of the data.

Words are little-endian, as on every machine that Arrow has packages for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.columnar.jit import entry, inlined
from zenlake.columnar.memory import handle_of, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.columnar.columns import Columns
    from zenlake.columnar.memory import Buffer, Numbers

VIEW_WORDS: Final = 4
_INLINE_BYTES_MAX: Final = 12


def views_of(
    columns: Columns, offsets: NDArray[np.uint32], lengths: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """One view for each row, into the buffer with index 0."""
    out = np.zeros(len(offsets) * VIEW_WORDS, np.uint32)
    _write_views(handle_of(columns.data), offsets, lengths, out)
    return out


@entry
def _write_views(buf: Buffer, offsets: Numbers, lengths: Numbers, out: Numbers) -> None:
    """Write the length, then the bytes if there are few, else the first four, 0 and the offset."""
    for row in range(len(offsets)):
        offset, length = int(offsets[row]), int(lengths[row])
        view = row * VIEW_WORDS
        out[view] = length
        out[view + 1] = _word(buf, offset, min(length, 4))
        if length > _INLINE_BYTES_MAX:
            out[view + 3] = offset
        elif length > 4:
            out[view + 2] = _word(buf, offset + 4, min(length - 4, 4))
            out[view + 3] = _word(buf, offset + 8, min(length - 8, 4))


@inlined
def _word(buf: Buffer, pos: int, size: int) -> int:
    """Up to four bytes as a little-endian number; 0 if `size` is not positive."""
    word = 0
    for index in range(size):
        word |= load(buf, pos + index) << 8 * index
    return word
