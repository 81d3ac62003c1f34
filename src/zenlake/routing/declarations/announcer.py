"""`Announcer`: tells faces what others declared, and when it is gone (§4.3).

Equal faces and those above are told everything they may know; faces below what they asked
for. What a face was told stays told until it is gone, even if its interest ends before (§3.2,
rule 6).
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.declarations.deferred_tokens import LateToken, LateTokens
from zenlake.routing.declarations.entity import (
    QUERYABLE,
    SUBSCRIBER,
    TOKEN,
    Entity,
    Told,
    better,
    is_own_token,
)
from zenlake.routing.declarations.entity_table import in_aggregate
from zenlake.routing.declarations.interest import DownInterest
from zenlake.routing.declarations.token_endings import Endings
from zenlake.routing.face import CONTROL, Face
from zenlake.routing.memory import TOLD_BYTES
from zenlake.routing.region import BELOW, BESIDE
from zenlake.routing.tables import Tables
from zenlake.routing.work import MESSAGE_STEPS, SEND_STEPS, Job
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclaredKey,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.wire_expr import WireExpr

HOLDERS_PER_STEP: Final = 16
"""Holders of an entity that are looked at in about the time of a step."""


class Announcer:
    __slots__ = ("_endings", "_tables", "_work", "late_tokens")

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._work = tables.work
        self._endings = Endings()
        self.late_tokens = LateTokens(tables)

    def spread(self, entity: Entity, source: Face, in_answer: bool, is_gone: bool) -> None:
        """`source` began, changed or ended to hold `entity`: tell whom it concerns.

        `in_answer`: it was declared in answer to an interest of ours, so interests below
        whose answer is not complete get it as part of theirs.
        """
        self._tables.forget_routes_of(entity.kind, entity.key)
        self._spread(entity, source, in_answer, is_gone)

    def spread_holder(
        self, entity: Entity, source: Face, info: QueryableInfo, in_answer: bool, is_gone: bool
    ) -> None:
        """The same if `source` is a new or former holder, and its info was or is `info`."""
        self._tables.forget_routes_of(entity.kind, entity.key)
        is_new_token = entity.kind == TOKEN and not is_gone and len(entity.holders) == 1
        if is_new_token and not in_answer:
            self._endings.begin_token(entity.key, self._tables.interests.last_number)
        if in_answer or not self.is_no_news(entity, source, info):
            self._spread(entity, source, in_answer, is_gone)

    def is_no_news(self, entity: Entity, source: Face, info: QueryableInfo) -> bool:
        """Whether nobody need be told that `source` begins or ends to hold an entity."""
        self._work.steps -= len(entity.holders) // HOLDERS_PER_STEP
        return entity.is_known_without(source, info)

    def _spread(self, entity: Entity, source: Face, in_answer: bool, is_gone: bool) -> None:
        job = self.spreading(entity, source, in_answer, is_gone)
        if in_answer:
            # The D_FINAL that may come next must not overtake it.
            self._work.run_for(source, job)
        else:
            self._work.run(job)

    def spreading(self, entity: Entity, source: Face, in_answer: bool, is_gone: bool) -> Job:
        """The job that `spread` begins."""
        if entity.kind == TOKEN and not in_answer:
            self._endings.begin_job(entity.key)
        return self._spreading(entity, source, in_answer, is_gone)

    def _spreading(self, entity: Entity, source: Face, in_answer: bool, is_gone: bool) -> Job:
        yield from self._align_unasked(entity)
        yield from self._align_told(entity)
        interests: list[DownInterest] = []
        yield from self._find_interests(entity.kind, entity.key, interests)
        if is_gone and entity.kind == TOKEN:
            yield from self._find_unaware(entity, interests)
        work = self._work
        table = self._tables.entities[entity.kind]
        for interest in interests:
            if table.get(entity.key) not in (None, entity):
                break  # declared anew meanwhile: what is said here is out of date
            if not interest.is_live():
                continue
            if interest.aggregate:
                yield from self._align_aggregate(interest, entity, in_answer)
            elif not is_gone:
                info = entity.info_for(interest.face)
                if info is not None:
                    self._offer(entity, interest, info, in_answer)
            elif entity.kind == TOKEN:
                self._tell_end(entity, source, interest.face)
            work.steps -= 1
            if work.steps <= 0:
                yield
        if entity.kind == TOKEN and not in_answer:
            self._endings.end_job(entity.key)
            self.settle_ending(entity)
        table.discard_if_empty(entity)

    def _align_unasked(self, entity: Entity) -> Job:
        """Tell the faces that are told everything what they may know of an entity now."""
        work = self._work
        for region in self._tables.regions:
            info: QueryableInfo | None = None
            is_current = False
            for face in list(region.unasked):
                if not is_current:
                    # Their region does not relay, so all of them may know the same.
                    info = entity.info_for(face)
                    is_current = True
                self._align(entity, face, info)
                if work.steps <= 0:
                    yield
                    is_current = False

    def _align_told(self, entity: Entity) -> Job:
        """The same for faces below that were told of it."""
        for face in list(entity.told):
            told = entity.told.get(face)
            if face.position == BELOW and told is not None and not told.is_aggregate:
                info = entity.info_for(face)
                self._align(entity, face, info)
                if info is None and entity.kind == TOKEN:
                    self._endings.add(entity.key, face)
                if self._work.steps <= 0:
                    yield

    def _find_unaware(self, token: Entity, interests: list[DownInterest]) -> Job:
        """Find the faces that have not been told yet that a token had begun, which is gone now."""
        last_number = self._endings.last_number_before(token.key)
        if last_number == 0:
            return
        work = self._work
        for interest in interests:
            if interest.number <= last_number and interest.face not in token.told:
                self._endings.add(token.key, interest.face)
            work.steps -= 1
            if work.steps <= 0:
                yield

    def settle_ending(self, entity: Entity) -> None:
        """A holder is gone, or a job is over: who has heard of what may not matter any more."""
        if entity.kind == TOKEN:
            token = self._tables.entities[TOKEN].get(entity.key)
            if token is None or not token.has_gone_holder():
                self._endings.discard_if_over(entity.key)

    def _tell_end(self, token: Entity, source: Face, face: Face) -> None:
        """Tell a face that a token is gone of which it was not told, unless another holds it."""
        if token.info_for(face) is not None or self._endings.has(token.key, face):
            return
        told = token.told.get(face)
        if told is not None and not told.is_aggregate:
            return  # the job of the holder that went last undeclares it
        is_own = is_own_token(token, face, source) or self.late_tokens.has(token, face)
        if _hears(face, source) and not is_own:
            self._endings.add(token.key, face)
            self.tell_token_gone(face, token.key)

    def offer_late_token(self, late: LateToken) -> Job:
        """Tell a face of a token that might have been its own, and is not."""
        face = late.face
        found: list[DownInterest] = []
        yield from self._find_interests(TOKEN, late.key, found)
        for interest in found:
            if interest.face is face and (late.is_new or interest.mode != InterestMode.FUTURE):
                token = self._tables.entities[TOKEN].get(late.key)
                info = None if token is None else token.info_for(face)
                if token is None or info is None or face in token.told:
                    return
                if interest.is_live():
                    self.tell(token, face, info, None)
            self._work.steps -= 1
            if self._work.steps <= 0:
                yield

    def end_unknown_token(self, key: str) -> Job:
        """A token that we were never told of has ended: those who asked for tokens must hear it."""
        informed: set[Face] = set()
        found: list[DownInterest] = []
        yield from self._find_interests(TOKEN, key, found)
        for interest in found:
            below = interest.face
            entity = self._tables.entities[TOKEN].get(key)
            if (
                interest.is_live()
                and below not in informed
                and (entity is None or entity.info_for(below) is None)
            ):
                informed.add(below)
                self.tell_token_gone(below, key)
            self._work.steps -= 1
            if self._work.steps <= 0:
                yield

    def _find_interests(self, kind: int, key: str, found: list[DownInterest]) -> Job:
        """Put the interests below that `key` concerns into `found`."""
        table = self._tables.interests
        found.extend(table.unrestricted(kind))
        search = table.search(kind, key)
        if search is not None:
            while not self._work.search(search):
                yield
            for group in search.found:
                found.extend(group)

    def introduce(self, face: Face) -> Job:
        """Tell a new face everything it may know, unasked."""
        for table in self._tables.entities:
            for entity in table.all():
                if face.is_gone:
                    return
                self._align(entity, face, entity.info_for(face))
                if self._work.steps <= 0:
                    yield

    def tell(
        self, entity: Entity, face: Face, info: QueryableInfo, interest_id: int | None
    ) -> Told:
        """Declare `entity` to `face`, again under the same id if it was before."""
        told = entity.told.get(face)
        if told is None:
            has_ids = not face.is_multicast and face.position != BESIDE
            told = Told(face.next_id() if has_ids else 0, info, False)
            entity.told.put(face, told)
            face.told[entity.kind][entity.key] = entity
            face.account.add(TOLD_BYTES)
            if entity.kind == TOKEN:
                self._endings.discard(entity.key, face)
        told.info = info
        sourced = face.region.sourced
        if face.position == BESIDE and sourced is not None:
            sourced.announce(entity.kind, entity.key, info)
            return told
        self._work.steps -= SEND_STEPS
        send_declaration(face, entity.kind, told.id, entity.key, info, interest_id)
        return told

    def answer_aggregate(self, interest: DownInterest, kind: int) -> Job:
        """The one declaration that answers an aggregate interest, if anything matches."""
        found: list[QueryableInfo] = []
        yield from self._merge(interest, kind, found)
        if found and interest.is_live():
            entity = self._tables.entities[kind].get_or_add(interest.key)
            self.tell(entity, interest.face, found[0], interest.id).is_aggregate = True

    def _align_aggregate(self, interest: DownInterest, changed: Entity, in_answer: bool) -> Job:
        """One declaration on the interest's own key while anything matches it (§3.6)."""
        face = interest.face
        kind = changed.kind
        table = self._tables.entities[kind]
        wanted = in_answer and interest.pending is not None
        told = self._told_aggregate(interest, kind)
        if (
            told is not None
            and kind != QUERYABLE
            and not wanted
            and changed.info_for(face) is not None
        ):
            return  # one more of what the face was told of already
        found: list[QueryableInfo] = []
        yield from self._merge(interest, kind, found)
        if not interest.is_live():
            return
        entity = table.get(interest.key)
        told = self._told_aggregate(interest, kind)
        if not found:
            if entity is not None and told is not None:
                self._untell(entity, face)
                table.discard_if_empty(entity)
            return
        if told is None or told.info != found[0] or wanted:
            if entity is None:
                entity = table.get_or_add(interest.key)
            told = self.tell(entity, face, found[0], interest.id if wanted else None)
        told.is_aggregate = True

    def _told_aggregate(self, interest: DownInterest, kind: int) -> Told | None:
        entity = self._tables.entities[kind].get(interest.key)
        return None if entity is None else entity.told.get(interest.face)

    def _merge(self, interest: DownInterest, kind: int, found: list[QueryableInfo]) -> Job:
        """Put into `found` what all entities that match an interest are together, if any do."""
        work = self._work
        search = self._tables.entities[kind].search(interest.key)
        merged: QueryableInfo | None = None
        is_finished = False
        seen = 0
        while not is_finished:
            is_finished = work.search(search)
            while seen < len(search.found):
                info = in_aggregate(search.found[seen], interest.face, interest.key)
                seen += 1
                if info is not None:
                    merged = better(merged, info)
                    if kind != QUERYABLE:  # all are alike
                        is_finished = True
                        break
                work.steps -= MESSAGE_STEPS
                if work.steps <= 0:
                    yield
            if not is_finished:
                yield
        if merged is not None:
            found.append(merged)

    def forget_aggregate(self, interest: DownInterest, kind: int) -> None:
        """An aggregate interest is over: its declaration ends with it, silently."""
        face = interest.face
        entity = self._tables.entities[kind].get(interest.key)
        if entity is None or face not in entity.told:
            return
        if entity.info_for(face) is not None:
            entity.told.of(face).is_aggregate = False
            return
        self.forget_told(entity, face)

    def forget_told(self, entity: Entity, face: Face) -> None:
        """`face` knows no longer of `entity`, and needs no message for that."""
        del entity.told[face]
        del face.told[entity.kind][entity.key]
        face.account.release(TOLD_BYTES)
        self._tables.entities[entity.kind].discard_if_empty(entity)

    def tell_token_gone(self, face: Face, key: str) -> None:
        """The end of a token that `face` was never told of, so the key must say which (§3.6)."""
        self._work.steps -= SEND_STEPS
        body = UndeclareToken(0, UndeclaredKey(face.declared(key)))
        face.send(Declare(body, qos=CONTROL), key)

    def _offer(
        self, entity: Entity, interest: DownInterest, info: QueryableInfo, in_answer: bool
    ) -> None:
        if in_answer and interest.pending is not None:
            self.tell(entity, interest.face, info, interest.id)
        elif entity.kind == TOKEN and self.late_tokens.defers(entity, interest.face):
            return
        elif interest.face not in entity.told or (in_answer and _awaits(interest)):
            self.tell(entity, interest.face, info, None)

    def _align(self, entity: Entity, face: Face, info: QueryableInfo | None) -> None:
        """Bring what `face` was told in line with what it may know."""
        self._work.steps -= 1
        if face.is_gone or (face.is_multicast and entity.kind != SUBSCRIBER):
            return
        told = entity.told.get(face)
        if info is None:
            if told is not None:
                self._untell(entity, face)
        elif told is None or told.info != info:
            self.tell(entity, face, info, None)

    def _untell(self, entity: Entity, face: Face) -> None:
        told = entity.told.of(face)
        del entity.told[face]
        del face.told[entity.kind][entity.key]
        face.account.release(TOLD_BYTES)
        sourced = face.region.sourced
        if face.position == BESIDE and sourced is not None:
            sourced.withdraw(entity.kind, entity.key)
            return
        self._work.steps -= SEND_STEPS
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
