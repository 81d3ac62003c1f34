"""A stand-in for `mypy_extensions`, which is there to build but not always to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def mypyc_attr(*attributes: str, **values: object) -> Callable[[T], T]:
    """A hint for the compiler about a class; it does nothing here."""
    return _unchanged


def _unchanged(decorated: T) -> T:
    return decorated
