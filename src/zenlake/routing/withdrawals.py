"""`Withdrawals`: what routers undeclared of late.

An undeclaration may be sent over a link that is dead already, or down a tree that is just changing.
Its receiver then keeps the entity for ever, as it stays in the network by way of another link: a
token that nobody holds. So whoever tells a new child of a tree what its root has tells it what the
root has no longer, too; deployed routers do not.

While a tree changes, two neighbours may tell of its root, one of them what is true no longer. For a
moment the one that is nearer to the root is believed, should it say that something is gone.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import WITHDRAWALS_MAX
from zenlake.routing.face import Face
from zenlake.routing.memory import alias_bytes

KEPT_S: Final = 60.0
"""Longer than a dead link is taken for alive."""

DOUBT_S: Final = 1.0
"""As long as routers may differ in their trees."""

Withdrawal = tuple[int, str]
"""A kind and a key."""


class Said:
    """When it was said last, and by whom; None for this router."""

    __slots__ = ("by", "time")

    def __init__(self, time: float, by: Face | None) -> None:
        self.time = time
        self.by = by


class Withdrawals:
    __slots__ = ("_said",)

    def __init__(self) -> None:
        self._said: dict[Face, dict[Withdrawal, Said]] = {}
        """By source, the oldest first."""

    def add(self, source: Face, kind: int, key: str, now: float, by: Face | None = None) -> None:
        """A source undeclared something."""
        said = self._said.get(source)
        if said is None:
            said = self._said[source] = {}
        self._forget_old(source, said, now)
        if said.pop((kind, key), None) is None:
            source.account.add(alias_bytes(key))
        said[kind, key] = Said(now, by)

    def discard(self, source: Face, kind: int, key: str) -> None:
        """It was declared again."""
        said = self._said.get(source)
        if said is not None and said.pop((kind, key), None) is not None:
            source.account.release(alias_bytes(key))

    def has(self, source: Face, kind: int, key: str) -> bool:
        said = self._said.get(source)
        return said is not None and (kind, key) in said

    def doubted_by(self, source: Face, kind: int, key: str, now: float) -> Face | None:
        """The neighbour that has just said that something is gone, None if none has."""
        said = self._said.get(source)
        last = None if said is None else said.get((kind, key))
        return None if last is None or last.time <= now - DOUBT_S else last.by

    def of(self, source: Face, now: float) -> list[Withdrawal]:
        said = self._said.get(source)
        if said is None:
            return []
        self._forget_old(source, said, now)
        return list(said)

    def remove_source(self, source: Face) -> None:
        self._said.pop(source, None)

    def _forget_old(self, source: Face, said: dict[Withdrawal, Said], now: float) -> None:
        while said:
            oldest = next(iter(said))
            if said[oldest].time > now - KEPT_S and len(said) < WITHDRAWALS_MAX:
                return
            del said[oldest]
            source.account.release(alias_bytes(oldest[1]))
