"""Texts that a peer sent as keys: they may be invalid, or not canonical."""

from __future__ import annotations

from zenlake.errors import ZenlakeError
from zenlake.keyexpr.canonical import canonize
from zenlake.keyexpr.matching import intersects


def texts_intersect(a: str, b: str) -> bool | None:
    """Whether some key matches both; None (unknown) if one is not a key expression."""
    if a == b or ("*" not in a and "*" not in b):
        return a == b
    try:
        return intersects(canonize(a), canonize(b))
    except ZenlakeError:
        return None
