"""The weight of a link between two routers (behaviour reference §4.7).

All routers must compute the same weights to the last bit, or their trees differ and messages get
lost or run in circles. The hash keeps two paths with the same number of links from being equal.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import NETWORK_LINKS_MAX
from zenlake.wire.values.zenoh_id import ZID_BYTES_MAX, ZenohId

DEFAULT_WEIGHT: Final = 100
HASH_STEPS: Final = 16
"""Steps that the hash of a pair of ids takes."""

_HASH_MAX: Final = 0xFFFF_FFFF
_MASK: Final = 0xFFFF_FFFF_FFFF_FFFF


def edge_weight(weight: int, other_weight: int, hash: int) -> float:
    """The weight of an edge: of the configured weights (0: none) and the hash of the two ids."""
    base = max(weight, other_weight)
    if base == 0:
        base = DEFAULT_WEIGHT
    return base * (1.0 + 0.01 * (hash / _HASH_MAX))


class EdgeHashes:
    """Computes hashes of pairs of ids, and remembers them: one takes as long as many steps."""

    __slots__ = ("_hashes",)

    def __init__(self) -> None:
        self._hashes: dict[bytes, int] = {}

    def get(self, zid: ZenohId, other: ZenohId) -> int:
        """A hash of 32 bits, the same for both orders."""
        data = _padded(zid) + _padded(other) if zid <= other else _padded(other) + _padded(zid)
        hash = self._hashes.get(data)
        if hash is None:
            if len(self._hashes) >= 2 * NETWORK_LINKS_MAX:
                self._hashes.clear()
            hash = sip_hash(data) & _HASH_MAX
            self._hashes[data] = hash
        return hash


def _padded(zid: ZenohId) -> bytes:
    return zid.raw.ljust(ZID_BYTES_MAX, b"\0")


def sip_hash(data: bytes) -> int:
    return SipHash(data).finish(b"")


class SipHash:
    """SipHash-1-3 with the key 0, 0: one round for each eight bytes, three at the end.

    The hash of bytes that begin with `start`: as much of it as possible is computed once.
    """

    __slots__ = ("_length", "_rest", "_v0", "_v1", "_v2", "_v3")

    def __init__(self, start: bytes) -> None:
        self._length = len(start)
        whole = len(start) & ~7
        self._rest = start[whole:]
        self._v0 = 0x736F6D6570736575
        self._v1 = 0x646F72616E646F6D
        self._v2 = 0x6C7967656E657261
        self._v3 = 0x7465646279746573
        for at in range(0, whole, 8):
            word = int.from_bytes(start[at : at + 8], "little")
            self._v0, self._v1, self._v2, self._v3 = _round(
                self._v0, self._v1, self._v2, self._v3 ^ word
            )
            self._v0 ^= word

    def finish(self, end: bytes) -> int:
        """The hash of `start` and `end` together, 64 bits; may be called several times."""
        data = self._rest + end
        length = self._length + len(end)
        v0, v1, v2, v3 = self._v0, self._v1, self._v2, self._v3
        whole = len(data) & ~7
        words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, whole, 8)]
        words.append(int.from_bytes(data[whole:], "little") | (length & 0xFF) << 56)
        for word in words:
            v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ word)
            v0 ^= word
        v2 ^= 0xFF
        for _ in range(3):
            v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        return v0 ^ v1 ^ v2 ^ v3


def _round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = (v0 + v1) & _MASK
    v1 = _rotated(v1, 13) ^ v0
    v0 = _rotated(v0, 32)
    v2 = (v2 + v3) & _MASK
    v3 = _rotated(v3, 16) ^ v2
    v0 = (v0 + v3) & _MASK
    v3 = _rotated(v3, 21) ^ v0
    v2 = (v2 + v1) & _MASK
    v1 = _rotated(v1, 17) ^ v2
    v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK
