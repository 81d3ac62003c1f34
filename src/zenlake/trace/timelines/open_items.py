"""Lives: what timelines have in common: things that are open in a session for a while."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from zenlake.trace.events import MessageSeen, SessionChanged
from zenlake.trace.session import Session

Life = TypeVar("Life")


class OpenItems(Generic[Life]):
    """What is open in each session, the oldest first, never more than the limits allow."""

    __slots__ = ("_count", "_count_max", "_per_session_max", "_sessions")

    def __init__(self, per_session_max: int, count_max: int) -> None:
        self._per_session_max = per_session_max
        self._count_max = count_max
        self._count = 0
        self._sessions: OrderedDict[Session, OrderedDict[tuple[object, ...], Life]] = OrderedDict()

    def get(self, session: Session, key: tuple[object, ...]) -> Life | None:
        lives = self._sessions.get(session)
        return None if lives is None else lives.get(key)

    def add(self, session: Session, key: tuple[object, ...], life: Life) -> Life | None:
        """Gives the one that has to make room; the caller removes it."""
        lives = self._sessions.setdefault(session, OrderedDict())
        oldest: Life | None = None
        if len(lives) >= self._per_session_max:
            oldest = next(iter(lives.values()))
        elif self._count >= self._count_max:
            oldest = self.oldest()
        lives[key] = life
        self._count += 1
        return oldest

    def remove(self, session: Session, key: tuple[object, ...]) -> None:
        lives = self._sessions.get(session)
        if lives is not None and lives.pop(key, None) is not None:
            self._count -= 1
            if not lives:
                del self._sessions[session]

    def in_session(self, session: Session) -> list[Life]:
        lives = self._sessions.get(session)
        return [] if lives is None else list(lives.values())

    def all(self) -> list[Life]:
        return [life for lives in self._sessions.values() for life in lives.values()]

    def oldest(self) -> Life | None:
        """Of the session that has had something open for longest."""
        for lives in self._sessions.values():
            for life in lives.values():
                return life
        return None


def ends_session(event: SessionChanged) -> bool:
    return event.change in ("closed", "lost", "refused")


def asking_side(event: MessageSeen, session: Session, asks: bool) -> int:
    """The side that asked what this message asks, or answers.

    In a multicast group an answer names nobody: it belongs to the latest one of its number.
    """
    if session.is_multicast:
        return 0
    side = event.link.sides[event.direction]
    return side if asks else 1 - side
