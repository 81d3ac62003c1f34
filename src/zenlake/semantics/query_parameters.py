"""Parameters of a query that have a meaning for its replies (behaviour reference §2.5, §2.6).

_anyke    replies on keys that do not intersect the key of the query are accepted
_time     the query is about a period, so that AUTO consolidation keeps all replies
"""

from __future__ import annotations

from typing import Final

ANY_KEY: Final = "_anyke"
TIME_RANGE: Final = "_time"

_TRAILING: Final = ";=|"
"""Separators at the end of all parameters are not part of a name or value."""


def has_parameter(parameters: str, name: str) -> bool:
    """Whether `name` is among the parameters, with any value or none."""
    if name not in parameters:
        return False
    items = parameters.rstrip(_TRAILING).split(";")
    return any(item.partition("=")[0] == name for item in items)


def accepts_any_key(parameters: str) -> bool:
    """Whether a query accepts replies on keys that do not intersect its own."""
    return has_parameter(parameters, ANY_KEY)


def parameter_pattern(name: str) -> str:
    """A regular expression that finds `name` where `has_parameter` does, for SQL.

    It has no backslash, which SQL dialects escape differently.
    """
    return f"(^|;){name}(=|;|([|][{_TRAILING}]*)?$)"
