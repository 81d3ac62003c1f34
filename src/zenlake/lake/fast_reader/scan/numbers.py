"""Numbers out of the bytes of a file. Callers have compared `at` with the end before.

All are signed and of 64 bits, in compiled kernels and in plain Python, so that nothing is ever
mixed with unsigned ones (which Numba turns into floats) and nothing overflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zenlake.columnar.jit import IS_COMPILED, NUMBA, Function, inlined

Bytes = Any
"""An array of uint8, as kernels take it."""
Numbers = Any
"""An array of int64."""


if TYPE_CHECKING:

    def signed(number: Any) -> int:
        """A number of any array, as all numbers in kernels are."""
        ...

    def copy_unchecked(source: Bytes, at: int, count: int, target: Bytes, to: int) -> None: ...
else:
    signed = np.int64
    if IS_COMPILED:
        from zenlake.lake.fast_reader.scan.compiled_copy import copy_unchecked
    else:

        def copy_unchecked(source, at, count, target, to):
            target[to : to + count] = source[at : at + count]


def uncounted_entry(function: Function) -> Function:
    """As `jit.entry`, but arrays are not counted at every use, which takes most of the time.

    Nothing may be allocated in it; its caller keeps all arrays alive.
    """
    if NUMBA is None:
        return function
    compiled: Function = NUMBA.njit(nogil=True, cache=True, _nrt=False)(function)
    return compiled


@inlined
def byte(data: Bytes, at: int) -> int:
    return signed(data[at])


@inlined
def u16_big(data: Bytes, at: int) -> int:
    return signed(data[at]) << 8 | signed(data[at + 1])


@inlined
def u32_big(data: Bytes, at: int) -> int:
    return u16_big(data, at) << 16 | u16_big(data, at + 2)


@inlined
def u16_little(data: Bytes, at: int) -> int:
    return signed(data[at]) | signed(data[at + 1]) << 8


@inlined
def u32_little(data: Bytes, at: int) -> int:
    return u16_little(data, at) | u16_little(data, at + 2) << 16


@inlined
def u16(data: Bytes, at: int, is_big: bool) -> int:
    return u16_big(data, at) if is_big else u16_little(data, at)


@inlined
def u32(data: Bytes, at: int, is_big: bool) -> int:
    return u32_big(data, at) if is_big else u32_little(data, at)


@inlined
def copy(source: Bytes, at: int, count: int, target: Bytes, to: int) -> None:
    """Nothing is copied where it would not fit, which callers make sure of too."""
    if 0 <= at <= len(source) - count and 0 <= to <= len(target) - count:
        copy_unchecked(source, at, count, target, to)
