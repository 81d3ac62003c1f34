"""Unfinished work on the disk: what has to be removed if the process must end at once.

Whoever makes a temporary file or folder registers how to remove it, and forgets that when it is
done. A command that ends in a signal handler calls `remove_all`; all others remove their files as
the exception passes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

_cleanups: Final[dict[int, Callable[[], None]]] = {}
_numbers: Final = count()


def register(cleanup: Callable[[], None]) -> int:
    """`cleanup` may be called at any moment until `forget`; the number is for that."""
    number = next(_numbers)
    _cleanups[number] = cleanup
    return number


def forget(number: int) -> None:
    _cleanups.pop(number, None)


def remove_all() -> None:
    """The newest first. One that fails does not keep the others from being called."""
    for number in sorted(_cleanups, reverse=True):
        try:
            _cleanups.pop(number)()
        except OSError:
            continue
