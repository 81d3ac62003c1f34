"""`Endings`: who has heard of the end of a token, while its holders go.

A face that asked for future tokens only hears of the end of a token although it was never told of
the token (§3.6), so what it was told does not show that it has heard of the end. Several holders
may go at the same time, each with a job in turns that tells of it, and a holder that is lost counts
as gone before its removal begins. The first job that finds no holder left tells a face; the others
must not tell it again.
"""

from __future__ import annotations

from zenlake.routing.entity import Entity
from zenlake.routing.face import Face


class Ending:
    __slots__ = ("informed", "job_count")

    def __init__(self) -> None:
        self.job_count = 0
        """Jobs that tell of the end of a holder."""

        self.informed: set[Face] = set()
        """Faces that have heard of the end, and of nothing since."""


class Endings:
    __slots__ = ("_by_token",)

    def __init__(self) -> None:
        self._by_token: dict[Entity, Ending] = {}

    def begin_job(self, token: Entity) -> None:
        """A holder of a token is gone: a job is going to tell of it."""
        self._get_or_add(token).job_count += 1

    def end_job(self, token: Entity) -> None:
        """The job is over; the last one forgets who was told, unless one more is going to begin."""
        ending = self._by_token[token]
        ending.job_count -= 1
        if ending.job_count <= 0 and not token.has_gone_holder():
            del self._by_token[token]

    def add(self, token: Entity, face: Face) -> None:
        """A face has heard that a token is gone."""
        self._get_or_add(token).informed.add(face)

    def discard(self, token: Entity, face: Face) -> None:
        """A face has heard that a token exists."""
        ending = self._by_token.get(token)
        if ending is not None:
            ending.informed.discard(face)

    def has(self, token: Entity, face: Face) -> bool:
        """Whether a face has heard that a token is gone."""
        ending = self._by_token.get(token)
        return ending is not None and face in ending.informed

    def _get_or_add(self, token: Entity) -> Ending:
        ending = self._by_token.get(token)
        if ending is None:
            ending = self._by_token[token] = Ending()
        return ending
