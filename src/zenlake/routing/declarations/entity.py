"""`Entity`: a key on which subscribers, queryables or tokens exist, and the faces that know it.

All declarations of one kind on one key are one entity, and are announced as one. Whether a face
may know of it depends on the faces that hold it (`info_for`).
"""

from __future__ import annotations

from typing import Final, cast

from zenlake._mypyc import mypyc_attr
from zenlake.routing.face import Face
from zenlake.routing.face_map import FaceMap
from zenlake.routing.region import BELOW, BESIDE
from zenlake.wire.values.queryable_info import QueryableInfo

SUBSCRIBER: Final = 0
QUERYABLE: Final = 1
TOKEN: Final = 2
KINDS: Final = (SUBSCRIBER, QUERYABLE, TOKEN)

NO_ID: Final = -1

PLAIN: Final = QueryableInfo()
"""The info of subscribers, tokens, and queryables without the extension."""


@mypyc_attr(acyclic=True)
class Holding:
    """The declarations of one face on one key: usually one id, sometimes several.

    A face may have 100,000 of them. Python's garbage collector visits every object that may be part
    of a cycle, and stops all threads meanwhile. So a holding cannot be part of a cycle, and has no
    dictionary for a single id.
    """

    __slots__ = ("_more", "id", "info")

    def __init__(self) -> None:
        self.id = NO_ID
        """The first of its ids, NO_ID if it has none."""

        self._more: dict[int, QueryableInfo] | None = None  # all ids, if there are several
        self.info = PLAIN
        """The merged info of all its ids."""

    def add(self, id: int, info: QueryableInfo) -> None:
        """Declare an id, or change its info."""
        if self._more is None and self.id in (NO_ID, id):
            self.id = id
            self.info = info
            return
        if self._more is None:
            self._more = {self.id: self.info}
        self._more[id] = info
        self._merge(self._more)

    def remove(self, id: int) -> None:
        """Undeclare one of its ids."""
        more = self._more
        if more is None:
            self.id = NO_ID
            self.info = PLAIN
            return
        del more[id]
        self._merge(more)
        self.id = next(iter(more))
        if len(more) == 1:
            self._more = None

    def _merge(self, infos: dict[int, QueryableInfo]) -> None:
        merged: QueryableInfo | None = None
        for info in infos.values():
            merged = better(merged, info)
        self.info = PLAIN if merged is None else merged


@mypyc_attr(acyclic=True)
class Announced:
    """A declaration that was sent to a face: its id, and the info in it."""

    __slots__ = ("id", "info", "is_aggregate")

    def __init__(self, id: int, info: QueryableInfo, is_aggregate: bool) -> None:
        self.id = id
        self.info = info
        self.is_aggregate = is_aggregate
        """Whether it stands for all entities that match its key (§3.6), not for this one."""


@mypyc_attr(acyclic=True)
class Holdings(FaceMap):
    """The faces that hold an entity."""

    __slots__ = ()

    def get(self, face: Face) -> Holding | None:
        value = self.value(face)
        return value if isinstance(value, Holding) else None

    def require(self, face: Face) -> Holding:
        """The holding of a face that is known to have one."""
        return cast(Holding, self.value(face))


@mypyc_attr(acyclic=True)
class AnnouncedTo(FaceMap):
    """The faces to which an entity was announced."""

    __slots__ = ()

    def get(self, face: Face) -> Announced | None:
        value = self.value(face)
        return value if isinstance(value, Announced) else None

    def require(self, face: Face) -> Announced:
        """The declaration to a face that is known to have got one."""
        return cast(Announced, self.value(face))


@mypyc_attr(acyclic=True)
class Entity:
    """A key and a kind. The garbage collector does not track its parts, see face_map.py."""

    __slots__ = ("announced", "holders", "key", "kind")

    def __init__(self, kind: int, key: str) -> None:
        self.kind = kind
        self.key = key
        self.holders = Holdings()
        self.announced = AnnouncedTo()

    def info_for(self, face: Face, is_answer: bool = False) -> QueryableInfo | None:
        """The info that `face` may know, merged over the other faces (§4.3); None if there is none.

        `is_answer`: the face has an interest in current entities, and may ask no other node. A face
        that is gone holds nothing, although its removal may take several slices. A face does not
        learn of its own entities, except for some tokens (`_may_know_own`), nor, in a region that
        does not relay, of those of its neighbours there.
        """
        region = face.region
        merged: QueryableInfo | None = None
        for holder in self.holders.each():
            if holder.is_gone:
                continue
            if holder is face:
                if self.kind != TOKEN or not self._may_know_own(face, is_answer):
                    continue
            elif holder.region is region and not region.relays:
                continue
            elif (
                holder.is_shared
                and face.position == BESIDE
                and (region.is_north or self.kind == TOKEN)
            ):
                # The holder announces it to that network itself. Subscribers and queryables are
                # still announced to peers, as this router may be elected for a key (election.py).
                # If routers got them too, two routers would keep each other's alive for ever.
                continue
            elif not is_answer and is_own_token(self, face, holder):
                continue
            if self.kind != QUERYABLE:
                return PLAIN
            merged = better(merged, self.holders.require(holder).info)
        return merged

    def _may_know_own(self, face: Face, is_answer: bool) -> bool:
        """Whether a holder of a token may know of it although nobody else holds it.

        An application gets its own tokens. A node that got another's token and has one itself is
        not sent the end of the other: deployed nodes would take that for the end of their own.
        This happens to a peer with two gateways: one of them may receive the peer's token from the
        other gateway before it receives it from the peer.
        """
        if face.is_local:
            return True
        return face.position == BELOW and not is_answer and face in self.announced

    def is_known_without(self, source: Face, info: QueryableInfo) -> bool:
        """Whether the announcements are the same with and without `source`, which holds `info`.

        They are if two other faces hold one that is as good, and both are announced everywhere:
        each of the two learns of the other. Where thousands of clients declare the same key, this
        avoids a comparison with each of them.
        """
        first: Face | None = None
        for holder in self.holders.each():
            if holder is source or holder.is_gone or holder.is_shared:
                continue
            if self.kind == TOKEN and holder.position == BESIDE:
                continue  # some peers do not get it (is_own_token)
            if self.kind == QUERYABLE and worse(self.holders.require(holder).info, info):
                continue
            if first is None:
                first = holder
            elif holder.region is not first.region or holder.region.relays:
                return True
        return False

    def has_gone_holder(self) -> bool:
        """Whether the removal of another face will announce the end, which must happen once."""
        return any(face.is_gone for face in self.holders.each())

    def __repr__(self) -> str:
        return f"Entity({('subscriber', 'queryable', 'token')[self.kind]} {self.key})"


def worse(first: QueryableInfo, second: QueryableInfo) -> bool:
    """Whether `second` is better than `first`."""
    return better(first, second) is not first


def is_own_token(entity: Entity, peer: Face, holder: Face) -> bool:
    """Whether a token that another gateway of a peer announces is that peer's own.

    Other gateways do not announce it to the peer (§4.4): when one of them ended, the peer would
    take its own token for ended.
    """
    return (
        entity.kind == TOKEN
        and holder.position == BESIDE
        and holder.zid in peer.gateways
        and peer in entity.holders
    )


def better(first: QueryableInfo | None, second: QueryableInfo) -> QueryableInfo:
    """The better of two infos: complete before incomplete, then the smaller distance (§3.6)."""
    if first is None:
        return second
    if first.complete != second.complete:
        return first if first.complete else second
    return first if first.distance <= second.distance else second
