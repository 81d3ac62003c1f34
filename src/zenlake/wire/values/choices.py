"""Enumerations of field values: query target, consolidation, interest mode, close reason.

Each comes with a function from the number on the wire; the value of a member is that number.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from zenlake.wire.primitives import Malformed


class QueryTarget(IntEnum):
    """Which matching queryables get a query (seed page: Query, QueryTarget)."""

    BEST_MATCHING = 0
    ALL = 1
    ALL_COMPLETE = 2

    def __str__(self) -> str:
        return self.name.lower()


class ConsolidationMode(IntEnum):
    """How replies for one key are reduced (seed page: Query, ConsolidationMode)."""

    AUTO = 0
    NONE = 1
    MONOTONIC = 2
    LATEST = 3

    def __str__(self) -> str:
        return self.name.lower()


class InterestMode(IntEnum):
    """Which declarations an INTEREST asks for; FINAL ends an earlier one."""

    FINAL = 0
    CURRENT = 1
    FUTURE = 2
    CURRENT_FUTURE = 3

    def __str__(self) -> str:
        return self.name.lower()


class Bound(IntEnum):
    """Whether a node regards the other as north or south of itself (wire reference §5.3)."""

    NORTH = 0
    SOUTH = 1

    def __str__(self) -> str:
        return self.name.lower()


class CloseReason(IntEnum):
    """The known codes of CLOSE (wire reference §5.2); a peer may send others."""

    GENERIC = 0
    UNSUPPORTED = 1
    INVALID = 2
    MAX_SESSIONS = 3
    MAX_LINKS = 4
    EXPIRED = 5
    UNRESPONSIVE = 6
    CONNECTION_TO_SELF = 7

    def __str__(self) -> str:
        return self.name.lower()


_TARGETS: Final = list(QueryTarget)
_CONSOLIDATIONS: Final = list(ConsolidationMode)
_MODES: Final = list(InterestMode)
_BOUNDS: Final = list(Bound)


def target_of_number(number: int) -> QueryTarget:
    if number > 2:
        raise Malformed(f"query target {number} does not exist")
    return _TARGETS[number]


def consolidation_of_number(number: int) -> ConsolidationMode:
    """Deployed nodes read unknown modes as AUTO (wire reference §11, 24)."""
    return _CONSOLIDATIONS[number] if number < 4 else ConsolidationMode.AUTO


def mode_of_number(number: int) -> InterestMode:
    return _MODES[number]


def bound_of_number(number: int) -> Bound:
    if number > 1:
        raise Malformed(f"bound {number} does not exist (0 north, 1 south)")
    return _BOUNDS[number]
