"""`Announcer`: tells faces what others declared, and when it is gone (§4.3).

North faces are told everything they may know; faces below what they asked for. What a face
was told stays told until it is gone, even if its interest ends before (§3.2, rule 6).
"""

from __future__ import annotations

from zenlake.routing.entity import QUERYABLE, SUBSCRIBER, TOKEN, Entity, Told
from zenlake.routing.face import CONTROL, Face
from zenlake.routing.interest import DownInterest
from zenlake.routing.region import BELOW
from zenlake.routing.tables import Tables
from zenlake.wire._generated.declare import (
    DeclareFinal,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire._generated.network import Declare
from zenlake.wire._generated.structures import UndeclaredKey
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.wire_expr import WireExpr


class Announcer:
    __slots__ = ("_tables",)

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def spread(self, entity: Entity, source: Face, in_answer: bool, is_gone: bool) -> None:
        """`source` began, changed or ended to hold `entity`: tell whom it concerns.

        `in_answer`: it was declared in answer to an interest of ours, so interests below
        whose answer is not complete get it as part of theirs.
        """
        self._tables.forget_routes()
        self._align_north(entity)
        informed: set[Face] = set()
        for face in list(entity.told):
            if face.position == BELOW and not entity.told[face].is_aggregate:
                informed.add(face)
                self._align(entity, face, entity.info_for(face))
        for interest in self._tables.interests.matching(entity.kind, entity.key):
            if interest.aggregate:
                self.align_aggregate(interest, entity.kind, in_answer)
                continue
            info = entity.info_for(interest.face)
            if info is not None:
                if not is_gone:
                    self._offer(entity, interest, info, in_answer)
            elif is_gone and entity.kind == TOKEN and interest.face not in informed:
                informed.add(interest.face)
                if _hears(interest.face, source):
                    self.tell_token_gone(interest.face, entity.key)
        self._tables.entities[entity.kind].discard_if_empty(entity)

    def tell_all(self, face: Face) -> None:
        """Everything a new face may know, unasked."""
        for table in self._tables.entities:
            for entity in table.matching(""):
                self._align(entity, face, entity.info_for(face))

    def tell(
        self, entity: Entity, face: Face, info: QueryableInfo, interest_id: int | None
    ) -> Told:
        """Declare `entity` to `face`, again under the same id if it was before."""
        told = entity.told.get(face)
        if told is None:
            told = Told(0 if face.is_multicast else face.next_id(), info, False)
            entity.told[face] = told
            face.told[entity.kind][entity.key] = entity
        told.info = info
        send_declaration(face, entity.kind, told.id, entity.key, info, interest_id)
        return told

    def align_aggregate(self, interest: DownInterest, kind: int, in_answer: bool) -> None:
        """One declaration on the interest's own key while anything matches it (§3.6)."""
        face = interest.face
        table = self._tables.entities[kind]
        entity = table.get(interest.key)
        told = None if entity is None else entity.told.get(face)
        info = table.aggregate_for(face, interest.key)
        if info is None:
            if entity is not None and told is not None:
                self._untell(entity, face)
                table.discard_if_empty(entity)
            return
        wanted = in_answer and interest.pending is not None
        if told is None or told.info != info or wanted:
            if entity is None:
                entity = table.get_or_add(interest.key)
            told = self.tell(entity, face, info, interest.id if wanted else None)
        told.is_aggregate = True

    def forget_aggregate(self, interest: DownInterest, kind: int) -> None:
        """An aggregate interest is over: its declaration ends with it, silently."""
        face = interest.face
        entity = self._tables.entities[kind].get(interest.key)
        if entity is None or face not in entity.told:
            return
        if entity.info_for(face) is not None:
            entity.told[face].is_aggregate = False
            return
        self.forget_told(entity, face)

    def forget_told(self, entity: Entity, face: Face) -> None:
        """`face` knows no longer of `entity`, and needs no message for that."""
        del entity.told[face]
        del face.told[entity.kind][entity.key]
        self._tables.entities[entity.kind].discard_if_empty(entity)

    def tell_token_gone(self, face: Face, key: str) -> None:
        """The end of a token that `face` was never told of, so the key must say which (§3.6)."""
        body = UndeclareToken(0, UndeclaredKey(face.declared(key)))
        face.send(Declare(body, qos=CONTROL), key)

    def _offer(
        self, entity: Entity, interest: DownInterest, info: QueryableInfo, in_answer: bool
    ) -> None:
        if in_answer and interest.pending is not None:
            self.tell(entity, interest.face, info, interest.id)
        elif interest.face not in entity.told or (in_answer and _awaits(interest)):
            self.tell(entity, interest.face, info, None)

    def _align_north(self, entity: Entity) -> None:
        """North faces are not relayed between, so all of them may know the same."""
        faces = self._tables.north.faces
        if faces:
            info = entity.info_for(faces[0])
            if info is not None or entity.told:
                for face in faces:
                    self._align(entity, face, info)

    def _align(self, entity: Entity, face: Face, info: QueryableInfo | None) -> None:
        """Bring what `face` was told in line with what it may know."""
        if face.is_multicast and entity.kind != SUBSCRIBER:
            return
        told = entity.told.get(face)
        if info is None:
            if told is not None:
                self._untell(entity, face)
        elif told is None or told.info != info:
            self.tell(entity, face, info, None)

    def _untell(self, entity: Entity, face: Face) -> None:
        told = entity.told.pop(face)
        del face.told[entity.kind][entity.key]
        if not face.is_multicast:
            send_undeclaration(face, entity.kind, told.id, entity.key)


def send_final(face: Face, interest_id: int) -> None:
    face.send(Declare(DeclareFinal(), interest_id, CONTROL), "")


def send_declaration(
    face: Face, kind: int, id: int, key: str, info: QueryableInfo, interest_id: int | None
) -> None:
    expr = face.declared(key)
    body: DeclareSubscriber | DeclareQueryable | DeclareToken
    if kind == SUBSCRIBER:
        body = DeclareSubscriber(id, expr)
    elif kind == QUERYABLE:
        body = DeclareQueryable(id, expr, info if info.complete or info.distance else None)
    else:
        body = DeclareToken(id, expr)
    face.send(Declare(body, interest_id, CONTROL), key)


def send_undeclaration(face: Face, kind: int, id: int, key: str) -> None:
    """By id alone; two of the kinds have a null key where routers have one (§0, 2)."""
    body: UndeclareSubscriber | UndeclareQueryable | UndeclareToken
    if kind == SUBSCRIBER:
        body = UndeclareSubscriber(id)
    elif kind == QUERYABLE:
        body = UndeclareQueryable(id, UndeclaredKey(WireExpr(0, "", False)))
    else:
        body = UndeclareToken(id, UndeclaredKey(WireExpr(0, "", False)))
    face.send(Declare(body, qos=CONTROL), key)


def _awaits(interest: DownInterest) -> bool:
    """Whether a node above was asked again for it and has not told all: what it tells is news.

    The face may have been told already, but in answer to another of its interests.
    """
    return any(not up.is_final and up.mode == InterestMode.CURRENT_FUTURE for up in interest.up)


def _hears(face: Face, source: Face) -> bool:
    """Whether `face` may know of tokens that `source` declares."""
    if source is face:
        return face.is_local
    return source.region is not face.region or face.region.relays
