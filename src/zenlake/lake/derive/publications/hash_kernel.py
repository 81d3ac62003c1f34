# Parts: 2d6fd5b8aec3f6e1
"""The hashes of many values of a column, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zenlake.columnar.intern import hash_of
from zenlake.columnar.memory import handle_of, load
from zenlake.lake.fast_reader.scan.numbers import uncounted_entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.columnar.memory import Buffer, Numbers
    from zenlake.columnar.sip_hash import HashKey

_SLASH = ord("/")


def hash_values(
    data: NDArray[np.uint8], bounds: NDArray[np.int32], key: HashKey, after_slash: bool
) -> NDArray[np.int64]:
    """A number above 0 for each value, or for its part after the first slash."""
    found = np.zeros(len(bounds) - 1, np.int64)
    hash_each(handle_of(data), bounds, key, after_slash, found)
    return found


@uncounted_entry
def hash_each(buf: Buffer, bounds: Numbers, key: HashKey, after_slash: bool, out: Numbers) -> None:
    for n in range(len(out)):
        at, end = int(bounds[n]), int(bounds[n + 1])
        if after_slash:
            while at < end and load(buf, at) != _SLASH:
                at += 1
            at = min(at + 1, end)
        out[n] = max(hash_of(buf, key, 0, at, end - at), 1)
