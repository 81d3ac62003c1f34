"""LakeError: the error of every operation on a lake, in one line."""

from __future__ import annotations

import errno
import os

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


def cause_of(error: OSError | ValueError) -> str:
    """The cause without the path, in one line. Arrow's errors of stores have no `strerror`."""
    if isinstance(error, FileNotFoundError):
        return os.strerror(errno.ENOENT)
    cause = error.strerror if isinstance(error, OSError) else None
    return " ".join((cause or str(error)).split())
