"""`QueryConsolidation`: a consolidation mode, as `get` and `declare_querier` take it."""

from __future__ import annotations

from typing import ClassVar, final

from zenlake.api.final_classes import no_subclasses
from zenlake.api.values.enums import ConsolidationMode


@final
@no_subclasses
class QueryConsolidation:
    """A wrapper of `ConsolidationMode`; both are accepted wherever one is."""

    __slots__ = ("_mode",)
    AUTO: ClassVar[QueryConsolidation]
    DEFAULT: ClassVar[QueryConsolidation]

    def __init__(self, mode: ConsolidationMode, /) -> None:
        if not isinstance(mode, ConsolidationMode):
            raise TypeError(f"a mode is a ConsolidationMode, not {type(mode).__name__}")
        self._mode = mode

    @property
    def mode(self) -> ConsolidationMode:
        return self._mode

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueryConsolidation) and self._mode is other._mode

    def __hash__(self) -> int:
        return hash(self._mode)

    def __repr__(self) -> str:
        return f"QueryConsolidation({self._mode!r})"


QueryConsolidation.AUTO = QueryConsolidation.DEFAULT = QueryConsolidation(ConsolidationMode.AUTO)


def consolidation_mode_of(value: ConsolidationMode | QueryConsolidation) -> ConsolidationMode:
    """The mode of an argument named `consolidation`."""
    if isinstance(value, ConsolidationMode):
        return value
    if isinstance(value, QueryConsolidation):
        return value.mode
    raise TypeError(f"a consolidation is a ConsolidationMode, not {type(value).__name__}")
