"""`MatchingStatus`: whether there is a matching subscriber or queryable."""

from __future__ import annotations

from typing import final

from zenlake.api.final_classes import NoConstructor, no_subclasses


@final
@no_subclasses
class MatchingStatus(NoConstructor):
    """Its truth value and its attribute `matching` are whether there is a matching entity."""

    __slots__ = ("_matching",)
    _matching: bool

    @property
    def matching(self) -> bool:
        return self._matching

    def __bool__(self) -> bool:
        return self._matching

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MatchingStatus):
            return self._matching == other._matching
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._matching)

    def __repr__(self) -> str:
        return f"MatchingStatus {{ matching: {'true' if self._matching else 'false'} }}"


def make_status(matching: bool) -> MatchingStatus:
    made = object.__new__(MatchingStatus)
    made._matching = matching
    return made
