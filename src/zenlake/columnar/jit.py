"""Kernels: plain functions that Numba compiles where it is installed.

Without Numba (or with `NUMBA_DISABLE_JIT=1`) the same functions run as they stand, slowly, with
the same results. So a kernel keeps to what both understand: numbers, loops, calls.
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

# Nobody calls parts from outside, which saves a third of the time to compile.
_PART: Final = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """A part of kernels."""
    return function if NUMBA is None else NUMBA.njit(**_PART)(function)


def inlined(function: Function) -> Function:
    """A small part that is copied to where it is called."""
    return function if NUMBA is None else NUMBA.njit(forceinline=True, **_PART)(function)


def entry(function: Function) -> Function:
    """What is called from outside: compiled once, kept on disk with all its parts.

    Numba looks only at the file of the entry itself to tell whether what it kept is old. The
    generated file carries a digest of the hand-written parts for that reason.
    """
    return function if NUMBA is None else NUMBA.njit(nogil=True, cache=True)(function)
