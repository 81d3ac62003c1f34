"""`DeferredTokens`: tokens that are announced to a peer with several gateways after a delay.

A router that receives a token from another gateway of its peer does not know whose it is: the
peer's own, which the peer declares to all its gateways, or that of another node. A peer of a
deployed release that gets its own token considers it ended when the announcing gateway ends. So
the token is announced after a delay, unless the peer has declared it itself by then; from the other
gateway the peer got it at once. When a peer ends its own token, the other gateway undeclares the
token soon if it was the same; otherwise it is announced to the peer.
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.declarations.entity import Entity
from zenlake.routing.face import Face
from zenlake.routing.region import BELOW, BESIDE
from zenlake.routing.tables import Tables
from zenlake.routing.timers import TIMERS_PER_SLICE, Deadline, Timers

PATIENCE_S: Final = 1.0
"""Within this time a peer and its gateways exchange a token or its end."""


class DeferredToken(Deadline):
    __slots__ = ("face", "is_new", "key")

    def __init__(self, face: Face, key: str, deadline: float, is_new: bool) -> None:
        super().__init__(deadline)
        self.face = face
        self.key = key
        self.is_new = is_new
        """Whether interests in future tokens get it too."""


class DeferredTokens:
    __slots__ = ("_tables", "_waiting", "timers")

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._waiting: dict[tuple[Face, str], DeferredToken] = {}
        """Deferred tokens, at most one for each pair of a router's token and a peer."""

        self.timers = Timers()

    def defers(self, token: Entity, face: Face) -> bool:
        """Whether to announce a token to a face later, because it may be the face's own token."""
        if not face.gateways or face in token.announced:
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
        if not face.gateways or not face.interests or face in token.announced:
            return
        if face.position == BELOW and any(
            holder.position == BESIDE and not holder.is_gone for holder in token.holders.each()
        ):
            self._wait(face, token.key, is_new=False)

    def _wait(self, face: Face, key: str, is_new: bool) -> None:
        if (face, key) not in self._waiting:
            late = DeferredToken(face, key, self._tables.now + PATIENCE_S, is_new)
            self._waiting[face, key] = late
            self.timers.start(late)

    def has(self, token: Entity, face: Face) -> bool:
        """Whether a token is still deferred: then its end is not announced either."""
        return (face, token.key) in self._waiting

    def pop_due(self, now: float) -> list[DeferredToken]:
        """Tokens whose delay is over."""
        due: list[DeferredToken] = []
        for timer in self.timers.pop_due(now, TIMERS_PER_SLICE):
            assert isinstance(timer, DeferredToken)
            del self._waiting[timer.face, timer.key]
            if not timer.face.is_gone:
                due.append(timer)
        return due
