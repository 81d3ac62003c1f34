"""`Entity`: a key on which subscribers, queryables or tokens exist, and who knows of it.

All of one kind on one key are one entity, whoever declared them: that is how they are told
to others. Where a face hears of it is decided by who holds it (`info_for`).
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
"""The info of what has none: subscribers, tokens, and queryables without the extension."""


@mypyc_attr(acyclic=True)
class Holding:
    """What one face declared on one key: usually one id, sometimes several.

    There may be 100,000 of a face. Python's garbage collector looks at every object that may be
    part of a cycle, while everybody waits; so a holding is none, and has no dictionary for one id.
    """

    __slots__ = ("_more", "id", "info")

    def __init__(self) -> None:
        self.id = NO_ID
        """The first of its ids, NO_ID if it has none."""

        self._more: dict[int, QueryableInfo] | None = None  # all of them if they are several
        self.info = PLAIN
        """Of all ids together."""

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
class Told:
    """What a face was told: under which id, and how it was described."""

    __slots__ = ("id", "info", "is_aggregate")

    def __init__(self, id: int, info: QueryableInfo, is_aggregate: bool) -> None:
        self.id = id
        self.info = info
        self.is_aggregate = is_aggregate
        """Whether it stands for all entities that match its key (§3.6), not for this one."""


@mypyc_attr(acyclic=True)
class Holdings(FaceMap):
    """Who holds an entity."""

    __slots__ = ()

    def get(self, face: Face) -> Holding | None:
        value = self.value(face)
        return value if isinstance(value, Holding) else None

    def of(self, face: Face) -> Holding:
        """Of a face that is known to hold it."""
        return cast(Holding, self.value(face))


@mypyc_attr(acyclic=True)
class Tellings(FaceMap):
    """Who was told of an entity."""

    __slots__ = ()

    def get(self, face: Face) -> Told | None:
        value = self.value(face)
        return value if isinstance(value, Told) else None

    def of(self, face: Face) -> Told:
        """Of a face that is known to have been told."""
        return cast(Told, self.value(face))


@mypyc_attr(acyclic=True)
class Entity:
    """What it is made of escapes the garbage collector, see face_map.py."""

    __slots__ = ("holders", "key", "kind", "told")

    def __init__(self, kind: int, key: str) -> None:
        self.kind = kind
        self.key = key
        self.holders = Holdings()
        self.told = Tellings()

    def info_for(self, face: Face, is_answer: bool = False) -> QueryableInfo | None:
        """What `face` may know of it, None if nothing: merged over the other faces (§4.3).

        `is_answer`: it asks for what there is now, and may ask no other node.

        A face that is gone holds nothing, although its removal may take several turns.

        Nobody hears of his own, but for some tokens (`_hears_own`); and in a region that does
        not relay nobody hears of his neighbours'.
        """
        region = face.region
        merged: QueryableInfo | None = None
        for holder in self.holders.each():
            if holder.is_gone:
                continue
            if holder is face:
                if self.kind != TOKEN or not self._hears_own(face, is_answer):
                    continue
            elif holder.region is region and not region.relays:
                continue
            elif (
                holder.is_shared
                and face.position == BESIDE
                and (region.is_north or self.kind == TOKEN)
            ):
                # It tells that network itself. Subscribers and queryables are told to peers all
                # the same: this router may be the one elected for a key (election.py). If they
                # were told to routers too, two routers would keep each other's for ever.
                continue
            elif not is_answer and is_own_token(self, face, holder):
                continue
            if self.kind != QUERYABLE:
                return PLAIN
            merged = better(merged, self.holders.of(holder).info)
        return merged

    def _hears_own(self, face: Face, is_answer: bool) -> bool:
        """Whether a holder of a token may know of it although nobody else holds it.

        Tokens of an application are told to it as well. Who was told of the token of another, and
        has one itself, is not told that it is gone: deployed nodes would take that for the end of
        their own. A peer with two gateways comes to this easily: one of them may hear of the
        peer's token from the other before it hears of it from the peer.
        """
        if face.is_local:
            return True
        return face.position == BELOW and not is_answer and face in self.told

    def is_known_without(self, source: Face, info: QueryableInfo) -> bool:
        """Whether nobody hears anything else of it if `source` holds it, as `info` says, or not.

        So it is if two others hold one that is as good, and may both be heard of everywhere: who
        is one of them hears of the other. That is seen at once where thousands of clients have
        the same key, each of which would otherwise be compared with what it was told.
        """
        first: Face | None = None
        for holder in self.holders.each():
            if holder is source or holder.is_gone or holder.is_shared:
                continue
            if self.kind == TOKEN and holder.position == BESIDE:
                continue  # some peers are not told of it (is_own_token)
            if self.kind == QUERYABLE and worse(self.holders.of(holder).info, info):
                continue
            if first is None:
                first = holder
            elif holder.region is not first.region or holder.region.relays:
                return True
        return False

    def has_gone_holder(self) -> bool:
        """Whether the removal of another face is going to tell of the end, which is told once."""
        return any(face.is_gone for face in self.holders.each())

    def __repr__(self) -> str:
        return f"Entity({('subscriber', 'queryable', 'token')[self.kind]} {self.key})"


def worse(first: QueryableInfo, second: QueryableInfo) -> bool:
    """Whether the second adds something to the first."""
    return better(first, second) is not first


def is_own_token(entity: Entity, peer: Face, holder: Face) -> bool:
    """Whether another router has a token of a peer from that peer itself, whose gateway it is.

    The peer is not told of it by other gateways (§4.4): when one of them ended, it would take its
    own token for ended.
    """
    return (
        entity.kind == TOKEN
        and holder.position == BESIDE
        and holder.zid in peer.gateways
        and peer in entity.holders
    )


def better(first: QueryableInfo | None, second: QueryableInfo) -> QueryableInfo:
    """Complete if one is; the smaller distance among those equally complete (§3.6)."""
    if first is None:
        return second
    if first.complete != second.complete:
        return first if first.complete else second
    return first if first.distance <= second.distance else second
