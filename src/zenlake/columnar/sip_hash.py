"""SipHash-1-3 for the hash tables of kernels, with a secret key of 128 bits.

The author of a capture chooses the keys of these tables. A hash that only begins with a
secret number does not help against that: words can be chosen whose differences cancel out for
every beginning. SipHash is a pseudorandom function: without its key one cannot find more collisions
than chance does. Python, Ruby and Rust use it for their own tables for that reason.

A caller feeds words of 64 bits, and no two of its messages may be the same list of words. So a
message of variable length begins with its length.

All numbers here have 64 bits without a sign, unlike in other kernels; only `slot_hash` returns one
to them.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, TypeAlias

from zenlake.columnar.jit import IS_COMPILED, inlined

HashKey: TypeAlias = tuple[int, int]
"""Two signed numbers: Numba compiles a kernel for each type that an argument has."""
State: TypeAlias = tuple[int, int, int, int]


def random_key() -> HashKey:
    return secrets.randbits(64) - (1 << 63), secrets.randbits(64) - (1 << 63)


if TYPE_CHECKING:

    def unsigned(number: Any) -> int:
        """The same 64 bits without a sign."""
        ...

    def signed(number: int) -> int: ...
    def plus(one: int, other: int) -> int: ...
    def rotated(number: int, bits: int) -> int: ...
elif IS_COMPILED:
    import numpy as np

    unsigned = np.uint64
    signed = np.int64

    @inlined
    def plus(one, other):
        return one + other

    @inlined
    def rotated(number, bits):
        return number << np.uint64(bits) | number >> np.uint64(64 - bits)
else:
    _MASK = 0xFFFF_FFFF_FFFF_FFFF
    signed = int

    def unsigned(number):
        return int(number) & _MASK

    def plus(one, other):
        return one + other & _MASK

    def rotated(number, bits):
        return (number << bits | number >> 64 - bits) & _MASK


@inlined
def begin_hash(key: HashKey) -> State:
    low, high = unsigned(key[0]), unsigned(key[1])
    return (
        low ^ unsigned(0x736F_6D65_7073_6575),
        high ^ unsigned(0x646F_7261_6E64_6F6D),
        low ^ unsigned(0x6C79_6765_6E65_7261),
        high ^ unsigned(0x7465_6462_7974_6573),
    )


@inlined
def feed_hash(state: State, number: int) -> State:
    """Add one word, signed or not, with one round."""
    word = unsigned(number)
    v0, v1, v2, v3 = _round(state[0], state[1], state[2], state[3] ^ word)
    return v0 ^ word, v1, v2, v3


@inlined
def slot_hash(state: State) -> int:
    """Finish with three rounds; returns 63 bits of the hash."""
    v0, v1, v2, v3 = state
    v0, v1, v2, v3 = _round(v0, v1, v2 ^ unsigned(0xFF), v3)
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return signed((v0 ^ v1 ^ v2 ^ v3) >> unsigned(1))


@inlined
def _round(v0: int, v1: int, v2: int, v3: int) -> State:
    v0, v2 = plus(v0, v1), plus(v2, v3)
    v1, v3 = rotated(v1, 13) ^ v0, rotated(v3, 16) ^ v2
    v0, v2 = rotated(v0, 32), plus(v2, v1)
    v0 = plus(v0, v3)
    v1, v3 = rotated(v1, 17) ^ v2, rotated(v3, 21) ^ v0
    return v0, v1, rotated(v2, 32), v3
