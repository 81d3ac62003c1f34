"""What goes wrong with a lake, in one line."""

from __future__ import annotations

from zenlake.errors import ZenlakeError


class LakeError(ZenlakeError):
    """A lake that cannot be read or written; `place` is a path, or empty where there is none."""

    def __init__(self, cause: str, place: object = "") -> None:
        self.place = str(place)
        self.cause = cause
        super().__init__(f"{self.place}: {cause}" if self.place else cause)

    @classmethod
    def from_os(cls, error: OSError, place: object) -> LakeError:
        """What the system said, in its words and with the path it named."""
        return cls(error.strerror or str(error), error.filename or place)
