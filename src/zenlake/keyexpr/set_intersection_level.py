"""How two sets of keys relate, from the first one's point of view."""

from __future__ import annotations

from enum import IntEnum


class SetIntersectionLevel(IntEnum):
    """Each level implies the ones below it, so `level >= INTERSECTS` is a fair question."""

    DISJOINT = 0
    """No key belongs to both."""

    INTERSECTS = 1
    """Some key belongs to both."""

    INCLUDES = 2
    """Every key of the second belongs to the first."""

    EQUALS = 3
    """The same keys."""

    def __repr__(self) -> str:
        return f"SetIntersectionLevel.{self.name}"

    __str__ = __repr__
