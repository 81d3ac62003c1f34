"""`KeyExpr`: a canonical key expression as a value.

It is a text that has passed `canonical.validate`, with the operations users of
eclipse-zenoh know. It equals and hashes like its text, so the two can share a dictionary.
"""

from __future__ import annotations

from zenlake.errors import KeyExprError
from zenlake.keyexpr import matching, prefix
from zenlake.keyexpr.canonical import canonize, validate
from zenlake.keyexpr.set_intersection_level import SetIntersectionLevel


class KeyExpr:
    """A set of keys, written as one canonical text; immutable."""

    __slots__ = ("_text",)

    def __init__(self, key_expr: str | KeyExpr) -> None:
        self._text: str = _text_of(key_expr)
        if not isinstance(key_expr, KeyExpr):
            validate(self._text)

    @classmethod
    def autocanonize(cls, key_expr: str | KeyExpr) -> KeyExpr:
        """The key expression that `key_expr` spells, after rewriting redundant wildcards."""
        return cls(canonize(_text_of(key_expr)))

    @property
    def is_wild(self) -> bool:
        """Whether any wildcard is written in it, even inside a verbatim chunk."""
        return "*" in self._text

    def intersects(self, other: str | KeyExpr) -> bool:
        """Whether some key belongs to both."""
        return matching.intersects(self._text, KeyExpr(other)._text)

    def includes(self, other: str | KeyExpr) -> bool:
        """Whether every key of `other` belongs to this one."""
        return matching.includes(self._text, KeyExpr(other)._text)

    def relation_to(self, other: str | KeyExpr) -> SetIntersectionLevel:
        """The highest level that holds between this expression (the first) and `other`."""
        return matching.relation(self._text, KeyExpr(other)._text)

    def join(self, other: str | KeyExpr) -> KeyExpr:
        """This expression, a `/` and `other`, made canonical."""
        return KeyExpr(canonize(f"{self._text}/{_text_of(other)}"))

    def concat(self, other: str | KeyExpr) -> KeyExpr:
        """This expression directly followed by the text `other`; nothing is rewritten."""
        suffix = _text_of(other)
        if self._text.endswith("*") and suffix.startswith("*"):
            # The result may be valid, but with another wildcard than the one intended.
            raise KeyExprError(self._text + suffix, len(self._text), "`*` concatenated to `*`")
        return KeyExpr(self._text + suffix)

    def __truediv__(self, other: str | KeyExpr) -> KeyExpr:
        return self.join(other)

    def nonwild_prefix(self) -> KeyExpr | None:
        """The chunks before the first wildcard, None if there are none."""
        text = prefix.nonwild_prefix(self._text)
        return None if text is None else KeyExpr(text)

    def strip_prefix(self, other: str | KeyExpr) -> list[KeyExpr]:
        """The remainders after `other`, without those that another one includes."""
        return [KeyExpr(text) for text in prefix.strip_prefix(self._text, KeyExpr(other)._text)]

    def strip_nonwild_prefix(self, other: str | KeyExpr) -> KeyExpr | None:
        """The longest remainder after `other`, which has no wildcards; None if there is none."""
        key = KeyExpr(other)
        if key.is_wild:
            raise KeyExprError(key._text, key._text.index("*"), "the prefix must have no wildcards")
        text = prefix.strip_nonwild_prefix(self._text, key._text)
        return None if text is None else KeyExpr(text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"ke`{self._text}`"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KeyExpr):
            return self._text == other._text
        if isinstance(other, str):
            return self._text == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)


def _text_of(key_expr: str | KeyExpr) -> str:
    if isinstance(key_expr, KeyExpr):
        return key_expr._text
    if isinstance(key_expr, str):
        return key_expr
    raise TypeError(f"a key expression is a str, not {type(key_expr).__name__}")
