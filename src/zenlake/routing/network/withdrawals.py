"""`Withdrawals`: recent undeclarations of routers.

An undeclaration may be sent over a link that is dead already, or down a tree that is just changing.
A deployed router that missed it keeps the entity for ever, as the source stays in the network by
way of another link: a token that nobody holds. So a new child of a tree gets the recent
undeclarations of its root, too; deployed routers do not send them.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import WITHDRAWALS_MAX
from zenlake.routing.face import Face
from zenlake.routing.memory import alias_bytes

KEPT_S: Final = 60.0
"""Longer than it takes to notice a dead link."""

Withdrawal = tuple[int, str]
"""A kind and a key."""


class Withdrawals:
    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: dict[Face, dict[Withdrawal, float]] = {}
        """The undeclarations of each source, the oldest first."""

    def add(self, source: Face, kind: int, key: str, now: float) -> None:
        """Note that a source undeclared something."""
        times = self._times.get(source)
        if times is None:
            times = self._times[source] = {}
        self._forget_old(source, times, now)
        if times.pop((kind, key), None) is None:
            source.account.add(alias_bytes(key))
        times[kind, key] = now

    def discard(self, source: Face, kind: int, key: str) -> None:
        """Remove an undeclaration: the source declared the entity again."""
        times = self._times.get(source)
        if times is not None and times.pop((kind, key), None) is not None:
            source.account.release(alias_bytes(key))

    def has(self, source: Face, kind: int, key: str) -> bool:
        times = self._times.get(source)
        return times is not None and (kind, key) in times

    def recent(self, source: Face, now: float) -> list[Withdrawal]:
        times = self._times.get(source)
        if times is None:
            return []
        self._forget_old(source, times, now)
        return list(times)

    def remove_source(self, source: Face) -> None:
        self._times.pop(source, None)

    def _forget_old(self, source: Face, times: dict[Withdrawal, float], now: float) -> None:
        while times:
            oldest = next(iter(times))
            if times[oldest] > now - KEPT_S and len(times) < WITHDRAWALS_MAX:
                return
            del times[oldest]
            source.account.release(alias_bytes(oldest[1]))
