"""OpenItems: the requests, declarations or interests that are open in each session."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from zenlake.trace.events import MessageSeen
from zenlake.trace.session import Session

Item = TypeVar("Item")


class OpenItems(Generic[Item]):
    """Open items by session, the oldest first, within two limits."""

    __slots__ = ("_count", "_count_max", "_per_session_max", "_sessions")

    def __init__(self, per_session_max: int, count_max: int) -> None:
        self._per_session_max = per_session_max
        self._count_max = count_max
        self._count = 0
        self._sessions: OrderedDict[Session, OrderedDict[tuple[object, ...], Item]] = OrderedDict()

    def get(self, session: Session, key: tuple[object, ...]) -> Item | None:
        items = self._sessions.get(session)
        return None if items is None else items.get(key)

    def add(self, session: Session, key: tuple[object, ...], item: Item) -> Item | None:
        """Adds an item; returns an item above the limit, which the caller has to remove."""
        items = self._sessions.setdefault(session, OrderedDict())
        oldest: Item | None = None
        if len(items) >= self._per_session_max:
            oldest = next(iter(items.values()))
        elif self._count >= self._count_max:
            oldest = self.oldest()
        items[key] = item
        self._count += 1
        return oldest

    def remove(self, session: Session, key: tuple[object, ...]) -> None:
        items = self._sessions.get(session)
        if items is not None and items.pop(key, None) is not None:
            self._count -= 1
            if not items:
                del self._sessions[session]

    def in_session(self, session: Session) -> list[Item]:
        items = self._sessions.get(session)
        return [] if items is None else list(items.values())

    def all(self) -> list[Item]:
        return [item for items in self._sessions.values() for item in items.values()]

    def oldest(self) -> Item | None:
        """The first item of the session that was added first."""
        for items in self._sessions.values():
            for item in items.values():
                return item
        return None


def asking_side(event: MessageSeen, session: Session, asks: bool) -> int:
    """The side that sent the request or interest to which a message belongs.

    In a multicast group an answer does not name that side; the latest one with its id is assumed.
    """
    if session.is_multicast:
        return 0
    side = event.link.sides[event.direction]
    return side if asks else 1 - side
