"""Kernels: plain functions that Numba compiles if it is installed.

Without Numba (or with `NUMBA_DISABLE_JIT=1`) the same functions run as plain Python, slowly, with
the same results. So a kernel uses only what both support: numbers, loops, calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def _numba() -> Any:
    try:
        import numba
    except ImportError:
        return None
    return None if getattr(numba.config, "DISABLE_JIT", False) else numba


NUMBA: Final = _numba()
IS_COMPILED: Final = NUMBA is not None

# Parts are called by kernels only: without wrappers, compilation takes a third less time.
_PART: Final = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """A function that only kernels call."""
    return function if NUMBA is None else NUMBA.njit(**_PART)(function)


def inlined(function: Function) -> Function:
    """A small function that is inlined into its callers."""
    return function if NUMBA is None else NUMBA.njit(forceinline=True, **_PART)(function)


def entry(function: Function) -> Function:
    """A function that plain Python calls: compiled once, cached on disk with all its parts.

    Numba checks only the file of the entry itself to decide whether the cache is current.
    Therefore the generated file contains a digest of the hand-written parts.
    """
    return function if NUMBA is None else NUMBA.njit(nogil=True, cache=True)(function)
