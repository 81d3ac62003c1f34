"""Wanted: which part of a capture a story is asked for, so that only that is kept."""

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
class Wanted:
    """A query by its number, everything about a key, what a packet belongs to; or all."""

    query: str | None = None
    key: str | None = None
    packet: int | None = None

    @property
    def only_queries(self) -> bool:
        return self.query is not None

    def names(self, request_id: int, seq: int) -> bool:
        """Whether a request may be the one that is named, or one of its hops."""
        if self.query is None:
            return False
        return int(self.query.rpartition("/")[2]) in (request_id, seq)

    def has_key(self, key: str | None) -> bool:
        """Whether a key is asked for; one that is not known might be, and is.

        So are keys that wildcards would match but for their chunks with @: whoever asks about
        `robot/**` wants to hear of `robot/7/@meta`.
        """
        if self.key is None or key is None or meet(self.key, key):
            return True
        return ("@" in key or "@" in self.key) and meet(without_at(self.key), without_at(key))


def wanted(query: str | None, key: str | None, packet: int | None) -> Wanted:
    if key is not None:
        try:
            key = canonize(key)
        except ZenlakeError as error:
            raise LocalError(f"--key: {error}") from None
    if query is not None and not _is_reference(query):
        raise LocalError(f"--query: {query!r} is no request id, trace id or SESSION/ID")
    return Wanted(query, key, packet)


def _is_reference(text: str) -> bool:
    number = text.rpartition("/")[2]
    return number.isascii() and number.isdecimal() and len(number) <= 20


def without_at(expression: str) -> str:
    """The same with chunks that wildcards match, and that match nothing else."""
    return _AT.sub("~", expression)


@lru_cache(maxsize=100_000)
def meet(a: str, b: str) -> bool:
    """Whether two expressions intersect; where one is none, only if they are the same."""
    return texts_intersect(a, b) is True
