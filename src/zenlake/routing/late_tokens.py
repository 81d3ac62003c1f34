"""`LateTokens`: tokens of which a peer is told some time after it has ended its own.

A peer with several gateways is not told of a token that it holds itself and that another of its
gateways declares: mostly that is the peer's own (`is_own_token`). The other gateway may have it
from somebody else as well, which its declaration does not show. When the peer has ended its token,
the end of the other gateway's follows soon if it was the same; else the peer must be told of it.
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.entity import Entity
from zenlake.routing.face import Face
from zenlake.routing.region import BELOW, BESIDE
from zenlake.routing.tables import Tables
from zenlake.routing.timers import TIMERS_IN_A_TURN, Timer, Timers

PATIENCE_S: Final = 1.0
"""Within this time another gateway tells that a token of a peer has ended."""


class LateToken(Timer):
    __slots__ = ("face", "key")

    def __init__(self, face: Face, key: str, deadline: float) -> None:
        super().__init__(deadline)
        self.face = face
        self.key = key


class LateTokens:
    __slots__ = ("_tables", "_waiting", "timers")

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._waiting: dict[tuple[Face, str], LateToken] = {}
        """One at most for each token that a router has and a peer had."""

        self.timers = Timers()

    def note_undeclared(self, token: Entity, face: Face) -> None:
        """A face below has ended its token; others may hold it."""
        if not face.gateways or not face.interests or face in token.told:
            return
        if face.position != BELOW or not any(
            holder.position == BESIDE and not holder.is_gone for holder in token.holders.each()
        ):
            return
        before = self._waiting.get((face, token.key))
        if before is not None:
            self.timers.end(before)
        late = LateToken(face, token.key, self._tables.now + PATIENCE_S)
        self._waiting[face, token.key] = late
        self.timers.start(late)

    def has(self, token: Entity, face: Face) -> bool:
        """Whether a face has just ended this token: it need not be told of the end."""
        return (face, token.key) in self._waiting

    def take_due(self, now: float) -> list[LateToken]:
        """Those of which a face may have to be told now."""
        due: list[LateToken] = []
        for timer in self.timers.take_due(now, TIMERS_IN_A_TURN):
            assert isinstance(timer, LateToken)
            del self._waiting[timer.face, timer.key]
            if not timer.face.is_gone:
                due.append(timer)
        return due
