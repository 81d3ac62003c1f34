"""`LateTokens`: tokens of which a peer with several gateways is told some time later.

A router that hears of a token from another gateway of its peer cannot tell whose it is: the peer's
own, which the peer declares to all its gateways, or that of somebody else. If a peer was told of
its own token, deployed releases take the token for ended when the gateway that told them ends. So
the peer is told after a while, if it has not declared the token itself by then; the other gateway
has told it at once. And when a peer has ended its own token, the end of the other gateway's follows
soon if it was the same; else the peer is told of it.
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.declarations.entity import Entity
from zenlake.routing.face import Face
from zenlake.routing.region import BELOW, BESIDE
from zenlake.routing.tables import Tables
from zenlake.routing.timers import TIMERS_IN_A_TURN, Timer, Timers

PATIENCE_S: Final = 1.0
"""Within this time a peer and its gateways tell each other of a token or of its end."""


class LateToken(Timer):
    __slots__ = ("face", "is_new", "key")

    def __init__(self, face: Face, key: str, deadline: float, is_new: bool) -> None:
        super().__init__(deadline)
        self.face = face
        self.key = key
        self.is_new = is_new
        """Whether those must be told as well who did not ask for what there is."""


class LateTokens:
    __slots__ = ("_tables", "_waiting", "timers")

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._waiting: dict[tuple[Face, str], LateToken] = {}
        """One at most for each token that a router has, and peer."""

        self.timers = Timers()

    def defers(self, token: Entity, face: Face) -> bool:
        """Whether a face is to be told of a token later: it may be its own."""
        if not face.gateways or face in token.told:
            return False
        for holder in token.holders.each():
            if holder.is_gone or holder.region is face.region:
                continue
            if holder.position != BESIDE or holder.zid not in face.gateways:
                return False
        self._wait(face, token.key, is_new=True)
        return True

    def note_undeclared(self, token: Entity, face: Face) -> None:
        """A face below has ended its token; others may hold it."""
        if not face.gateways or not face.interests or face in token.told:
            return
        if face.position == BELOW and any(
            holder.position == BESIDE and not holder.is_gone for holder in token.holders.each()
        ):
            self._wait(face, token.key, is_new=False)

    def _wait(self, face: Face, key: str, is_new: bool) -> None:
        if (face, key) not in self._waiting:
            late = LateToken(face, key, self._tables.now + PATIENCE_S, is_new)
            self._waiting[face, key] = late
            self.timers.start(late)

    def has(self, token: Entity, face: Face) -> bool:
        """Whether a face was not told yet of this token: it need not be told of the end."""
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
