"""Keys that collided in the hash of earlier releases, for every initial value.

It multiplied by an odd factor and kept 63 bits: a word that differs in bit 62 only has a hash
that differs in bit 62 only. The next word was combined with the hash and its upper half, so that
differences in its bits 62 and 30 cancel that out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# In ASCII, `!` is `a` without bit 6. A word is little-endian: bit 62 is in the last byte.
_ONE = b"aaaaaaaa" + b"aaaaaaaa"
_OTHER = b"aaaaaaa!" + b"aaa!aaa!"
_FACTOR = 0x1E37_79B9_7F4A_7C15
_POSITIVE = 0x7FFF_FFFF_FFFF_FFFF


def colliding_keys(bits: int) -> list[bytes]:
    """2 to the power of `bits` keys of one length."""
    return [
        b"".join(_OTHER if number >> bit & 1 else _ONE for bit in range(bits))
        for number in range(1 << bits)
    ]


def former_hash(key: bytes, start: int) -> int:
    hash = (start ^ len(key)) * _FACTOR & _POSITIVE
    for at in range(0, len(key), 8):
        word = int.from_bytes(key[at : at + 8], "little")
        hash = (hash ^ hash >> 32 ^ word) * _FACTOR & _POSITIVE
    return hash >> 32


def stretches(
    keys: list[bytes],
) -> tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint32]]:
    """The keys one after another, none at offset 0; the offsets, and the lengths."""
    lengths = np.array([len(key) for key in keys], np.uint32)
    offsets = 1 + np.cumsum(lengths) - lengths
    return np.frombuffer(b"\0" + b"".join(keys), np.uint8), offsets.astype(np.uint32), lengths
