"""Cleanups of temporary files and folders, for a process that must end at once.

Code that makes a temporary file or folder registers how to remove it, and forgets that when it is
done. A command that ends in a signal handler calls `run_all`; otherwise files are removed where
the exception passes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

_cleanups: Final[dict[int, Callable[[], None]]] = {}
_numbers: Final = count()
_TRIES: Final = 5
"""The number of attempts to remove a folder into which a thread may still be writing."""


def register(cleanup: Callable[[], None]) -> int:
    """`cleanup` may be called at any moment until `forget(number)`."""
    number = next(_numbers)
    _cleanups[number] = cleanup
    return number


def forget(number: int) -> None:
    _cleanups.pop(number, None)


def run_all() -> None:
    """The newest first. One that fails does not keep the others from being called."""
    for number in sorted(_cleanups, reverse=True):
        try:
            _cleanups.pop(number)()
        except OSError:
            continue


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for one `with`; `TMPDIR` says where.

    It is registered before it is made. `TemporaryDirectory` has to be asked for its name, and a
    signal may come before the answer.
    """
    # Commands that need no folder do without; a signal handler does not import.
    from shutil import rmtree
    from tempfile import gettempdir

    path = Path(gettempdir(), f"zenlake-{os.urandom(8).hex()}")

    def remove() -> None:
        for _ in range(_TRIES):
            rmtree(path, ignore_errors=True)
            if not os.path.lexists(path):
                return

    number = register(remove)
    try:
        path.mkdir(mode=0o700)
        yield path
    finally:
        remove()
        forget(number)
