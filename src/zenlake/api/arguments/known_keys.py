"""Keys that were seen before, as users hold them: one KeyExpr per text, as far as remembered."""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr import KeyExpr

_REMEMBERED_MAX: Final = 8_192
_ANY_KEY: Final = KeyExpr("**")
_known: Final[dict[str, KeyExpr]] = {}


def key_expr_of(text: str) -> KeyExpr:
    """The KeyExpr of a text known to be valid; hot."""
    found = _known.get(text)
    if found is None:
        # One made of another is not validated; that is what makes this cheap.
        found = KeyExpr(_ANY_KEY)
        found._text = text
        remember(found)
    return found


def is_known(text: str) -> bool:
    """Whether a text was seen before, and so is valid."""
    return text in _known


def remember(key_expr: KeyExpr) -> None:
    if len(_known) >= _REMEMBERED_MAX:
        _known.clear()
    _known[str(key_expr)] = key_expr
