"""LakeError: the error of every operation on a lake, in one line."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from difflib import get_close_matches

from zenlake.errors import ZenlakeError


class LakeError(ZenlakeError):
    """A lake cannot be read or written. `place` is a path or address, or empty."""

    def __init__(self, cause: str, place: object = "") -> None:
        self.place = str(place)
        self.cause = cause
        super().__init__(f"{self.place}: {cause}" if self.place else cause)

    @classmethod
    def from_os(cls, error: OSError, place: object) -> LakeError:
        """The system's message, with the path that it names."""
        return cls(error.strerror or str(error), error.filename or place)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def cause_of(error: OSError | ValueError) -> str:
    """The cause without the path, in one line. Arrow's errors of stores have no `strerror`."""
    if isinstance(error, FileNotFoundError):
        return os.strerror(errno.ENOENT)
    cause = error.strerror if isinstance(error, OSError) else None
    return " ".join((cause or str(error)).split())
