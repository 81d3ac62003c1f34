"""A cache of valid key expressions by their text.

All sessions of the process share it: an entry depends on its text alone, and validating a text
costs more than most operations.
"""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr import KeyExpr

_REMEMBERED_MAX: Final = 8_192
_ANY_KEY: Final = KeyExpr("**")
_known: Final[dict[str, KeyExpr]] = {}


def key_expr_of(text: str) -> KeyExpr:
    """The KeyExpr of a text that is known to be valid. Hot."""
    found = _known.get(text)
    if found is None:
        # A copy of a KeyExpr is not validated again, which makes this cheap.
        found = KeyExpr(_ANY_KEY)
        found._text = text
        remember(found)
    return found


def is_known(text: str) -> bool:
    """Whether the cache has this text; if so, the text is valid."""
    return text in _known


def remember(key_expr: KeyExpr) -> None:
    if len(_known) >= _REMEMBERED_MAX:
        _known.clear()
    _known[str(key_expr)] = key_expr
