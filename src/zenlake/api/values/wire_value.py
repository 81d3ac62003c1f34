"""`WireValue`: the base of classes that show users a value of `zenlake.wire`."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

W = TypeVar("W")


class WireValue(Generic[W]):
    """Equals, hashes and prints like its value."""

    __slots__ = ("_wire",)
    _wire: W

    @classmethod
    def from_wire(cls, value: W) -> Self:
        made = object.__new__(cls)
        made._wire = value
        return made

    @property
    def wire(self) -> W:
        """The value as messages carry it."""
        return self._wire

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._wire == other._wire

    def __hash__(self) -> int:
        return hash(self._wire)

    def __str__(self) -> str:
        return str(self._wire)

    __repr__ = __str__
