"""Scope: the part of a capture that the user selects; other records are not kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from zenlake.errors import LocalError, ZenlakeError
from zenlake.keyexpr import canonize
from zenlake.keyexpr.texts import texts_intersect

_AT: Final = re.compile(r"(?:(?<=/)|^)@")


@dataclass(frozen=True)
class Scope:
    """A query (by its number), a key expression, or a packet; by default everything."""

    query: str | None = None
    key: str | None = None
    packet: int | None = None

    @property
    def only_queries(self) -> bool:
        return self.query is not None

    def names(self, request_id: int, seq: int) -> bool:
        """Whether a request may be the named one, or one of its hops."""
        if self.query is None:
            return False
        return int(self.query.rpartition("/")[2]) in (request_id, seq)

    def has_key(self, key: str | None) -> bool:
        """Whether a key is in the scope; True for an unknown key.

        Wildcards match chunks with @ here, which they do not in Zenoh: `robot/**` includes
        `robot/7/@meta`, so that the story can explain why it did not match.
        """
        if self.key is None or key is None or intersects(self.key, key):
            return True
        return ("@" in key or "@" in self.key) and intersects(without_at(self.key), without_at(key))


def parse_scope(query: str | None, key: str | None, packet: int | None) -> Scope:
    if key is not None:
        try:
            key = canonize(key)
        except ZenlakeError as error:
            raise LocalError(f"--key: {error}") from None
    if query is not None and not _is_reference(query):
        raise LocalError(f"--query: {query!r} is not a request id, trace id or SESSION/ID")
    return Scope(query, key, packet)


def _is_reference(text: str) -> bool:
    number = text.rpartition("/")[2]
    return number.isascii() and number.isdecimal() and len(number) <= 20


def without_at(expression: str) -> str:
    """Replaces @ at the beginning of chunks, so that wildcards match them."""
    return _AT.sub("~", expression)


@lru_cache(maxsize=100_000)
def intersects(a: str, b: str) -> bool:
    """Whether two expressions intersect; invalid ones only if they are equal."""
    return texts_intersect(a, b) is True
