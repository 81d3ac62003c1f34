"""Hasher: texts, bytes and numbers of a column to numbers of 63 bits.

Two tasks may hash the same text, so a hash depends on the text and the key alone. The key is made
of the captures' own hashes: the author of a capture cannot choose values that collide.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zenlake.columnar.sip_hash import HashKey
    from zenlake.lake.derive.publications.grouping import Flags, Numbers

NULL: Final = 0
"""The hash of null; no value has it."""
KERNEL_ROWS_MIN: Final = 20_000
"""Fewer rows are hashed in less time than the kernel takes to load."""
_KEY_BYTES: Final = 16
_SLASH: Final = b"/"
_ODD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIXERS: Final = (
    (np.uint64(30), np.uint64(0xBF58_476D_1CE4_E5B9)),
    (np.uint64(27), np.uint64(0x94D0_49BB_1331_11EB)),
)


class Hasher:
    """Hashes columns. With `uses_kernel` a kernel hashes texts and bytes, to other numbers."""

    def __init__(self, secret: bytes, uses_kernel: bool) -> None:
        self._key = blake2b(secret, digest_size=_KEY_BYTES).digest()
        self._uses_kernel = uses_kernel

    def texts(self, column: pa.ChunkedArray) -> Numbers:
        """The hashes of a dictionary column: each distinct text is hashed once."""
        return _joined(self._dictionary_hashes(chunk) for chunk in column.chunks)

    def _dictionary_hashes(self, chunk: pa.DictionaryArray) -> Numbers:
        hashes = np.append(self.array(chunk.dictionary), NULL)
        found: Numbers = hashes[chunk.indices.fill_null(len(hashes) - 1).to_numpy()]
        return found

    def values(self, column: pa.ChunkedArray) -> Numbers:
        """The hashes of a column of texts or bytes that rarely repeat."""
        if column.null_count == len(column):
            return np.zeros(len(column), np.int64)
        return _joined(map(self.array, column.chunks))

    def stampers(self, column: pa.ChunkedArray) -> Numbers:
        """The hashes of the ids in timestamps (after the slash); `texts` hashes an id equally."""
        if column.null_count == len(column):
            return np.zeros(len(column), np.int64)
        return _joined(self.array(chunk, after_slash=True) for chunk in column.chunks)

    def array(self, array: pa.Array, after_slash: bool = False) -> Numbers:
        if not len(array):
            return np.zeros(0, np.int64)
        if self._uses_kernel:
            return self._by_kernel(array, after_slash)
        values = array.cast(pa.binary()).to_pylist()
        if after_slash:
            values = [one and one.partition(_SLASH)[2] for one in values]
        return np.array([NULL if one is None else self._hash(one) for one in values], np.int64)

    def _hash(self, content: bytes) -> int:
        digest = blake2b(content, digest_size=8, key=self._key).digest()
        return (int.from_bytes(digest) >> 1) or 1

    def _by_kernel(self, array: pa.Array, after_slash: bool) -> Numbers:
        from zenlake.lake.derive.publications.hash_kernel import hash_values

        _, ends, content = array.buffers()
        bounds = np.frombuffer(ends, np.int32)[array.offset : array.offset + len(array) + 1]
        data = np.frombuffer(content or b"", np.uint8)
        found = hash_values(data, bounds, self._kernel_key, after_slash)
        if array.null_count:
            found[array.is_null().to_numpy(zero_copy_only=False)] = NULL
        return found

    @property
    def _kernel_key(self) -> HashKey:
        low, high = self._key[:8], self._key[8:]
        return int.from_bytes(low, signed=True), int.from_bytes(high, signed=True)

    @staticmethod
    def numbers(column: pa.ChunkedArray) -> Numbers:
        """The hashes of a column of numbers: close numbers get hashes far apart."""
        if column.null_count == len(column):
            return np.zeros(len(column), np.int64)
        given: Numbers = column.fill_null(0).to_numpy()
        is_null: Flags = column.is_null().to_numpy()
        return np.where(is_null, NULL, combined(given))


def combined(*columns: Numbers) -> Numbers:
    """One hash of the hashes in each row; it depends on the order of the columns."""
    found = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        found = (found + _ODD) * _ODD ^ column.view(np.uint64)
        for shift, mixer in _MIXERS:
            found = (found ^ found >> shift) * mixer
    return np.maximum((found >> np.uint64(1)).view(np.int64), 1)


def _joined(parts: Iterable[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0, np.int64), *parts])
