"""Integers in the bytes of a file. Callers check `at` against the end first.

All are signed with 64 bits, in compiled kernels and in plain Python: nothing overflows, and nothing
is mixed with unsigned integers, which Numba would convert to floats.
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
        """A number of any array as int64."""
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
    """As `jit.entry`, without reference counts of arrays, which take most of the time.

    The kernel must not allocate, and its caller must keep all arrays alive.
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
    """Copies nothing if it does not fit. Callers make sure that it does."""
    if 0 <= at <= len(source) - count and 0 <= to <= len(target) - count:
        copy_unchecked(source, at, count, target, to)
