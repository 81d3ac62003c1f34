"""The relation of a set of keys to a second one."""

from __future__ import annotations

from enum import IntEnum


class SetIntersectionLevel(IntEnum):
    """Each level implies the ones below it, so levels can be compared: `level >= INTERSECTS`."""

    DISJOINT = 0
    """No key belongs to both."""

    INTERSECTS = 1
    """Some key belongs to both."""

    INCLUDES = 2
    """Every key of the second belongs to the first."""

    EQUALS = 3
    """Both are the same set of keys."""

    def __repr__(self) -> str:
        return f"SetIntersectionLevel.{self.name}"

    __str__ = __repr__
