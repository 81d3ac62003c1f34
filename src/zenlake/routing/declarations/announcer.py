"""`Announcer`: declares to each face what other faces declared, and undeclares it again (§4.3).

Equal faces and faces above get all declarations that they may know; faces below get those that
match their interests. A declaration to a face lasts until its entity ends, even if the interest
ends before (§3.2, rule 6).
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.declarations.declare_messages import (
    send_declaration,
    send_undeclaration,
    send_undeclaration_of_key,
)
from zenlake.routing.declarations.deferred_tokens import DeferredToken, DeferredTokens
from zenlake.routing.declarations.entity import (
    QUERYABLE,
    SUBSCRIBER,
    TOKEN,
    Announced,
    Entity,
    better,
    is_own_token,
)
from zenlake.routing.declarations.entity_table import in_aggregate
from zenlake.routing.declarations.interest import DownInterest
from zenlake.routing.declarations.token_endings import TokenEndings
from zenlake.routing.face import Face
from zenlake.routing.memory import ANNOUNCED_BYTES
from zenlake.routing.region import BELOW, BESIDE
from zenlake.routing.tables import Tables
from zenlake.routing.work import MESSAGE_STEPS, SEND_STEPS, Job
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.queryable_info import QueryableInfo

HOLDERS_PER_STEP: Final = 16
"""Holders of an entity that are checked in about the time of a step."""


class Announcer:
    __slots__ = ("_endings", "_tables", "_work", "deferred_tokens")

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._work = tables.work
        self._endings = TokenEndings()
        self.deferred_tokens = DeferredTokens(tables)

    def announce_change(self, entity: Entity, source: Face, in_answer: bool) -> None:
        """Announce that `source` holds `entity` with other info.

        `in_answer`: it was declared in answer to an interest of ours, so interests below
        whose answer is not complete get it as part of theirs.
        """
        self._tables.forget_routes_of(entity.kind, entity.key)
        self._announce_change(entity, source, in_answer, False)

    def announce_holder(
        self, entity: Entity, source: Face, info: QueryableInfo, in_answer: bool, is_gone: bool
    ) -> None:
        """Announce the change if `source` is a new or former holder whose info was or is `info`."""
        self._tables.forget_routes_of(entity.kind, entity.key)
        is_new_token = entity.kind == TOKEN and not is_gone and len(entity.holders) == 1
        if is_new_token and not in_answer:
            self._endings.begin_token(entity.key, self._tables.interests.last_number)
        if in_answer or self.changes_announcements(entity, source, info):
            self._announce_change(entity, source, in_answer, is_gone)

    def changes_announcements(self, entity: Entity, source: Face, info: QueryableInfo) -> bool:
        """Whether any announcement changes if `source` becomes or is no longer a holder."""
        self._work.steps -= len(entity.holders) // HOLDERS_PER_STEP
        return not entity.is_known_without(source, info)

    def _announce_change(
        self, entity: Entity, source: Face, in_answer: bool, is_gone: bool
    ) -> None:
        job = self.change_job(entity, source, in_answer, is_gone)
        if in_answer:
            # The D_FINAL that may come next must not overtake it.
            self._work.run_for(source, job)
        else:
            self._work.run(job)

    def change_job(self, entity: Entity, source: Face, in_answer: bool, is_gone: bool) -> Job:
        """The job that `announce_change` begins."""
        if entity.kind == TOKEN and not in_answer:
            self._endings.begin_job(entity.key)
        return self._change_job(entity, source, in_answer, is_gone)

    def _change_job(self, entity: Entity, source: Face, in_answer: bool, is_gone: bool) -> Job:
        yield from self._align_unasked(entity)
        yield from self._align_announced(entity)
        interests: list[DownInterest] = []
        yield from self._find_interests(entity.kind, entity.key, interests)
        if is_gone and entity.kind == TOKEN:
            yield from self._find_unaware(entity, interests)
        work = self._work
        table = self._tables.entities[entity.kind]
        for interest in interests:
            if table.get(entity.key) not in (None, entity):
                break  # declared again meanwhile: this job is out of date
            if not interest.is_live():
                continue
            if interest.aggregate:
                yield from self._align_aggregate(interest, entity, in_answer)
            elif not is_gone:
                info = entity.info_for(interest.face)
                if info is not None:
                    self._offer(entity, interest, info, in_answer)
            elif entity.kind == TOKEN:
                self._announce_end(entity, source, interest.face)
            work.steps -= 1
            if work.steps <= 0:
                yield
        if entity.kind == TOKEN and not in_answer:
            self._endings.end_job(entity.key)
            self.discard_ending(entity)
        table.discard_if_empty(entity)

    def _align_unasked(self, entity: Entity) -> Job:
        """Announce an entity, as it is now, to the faces that get all declarations."""
        work = self._work
        for region in self._tables.regions:
            info: QueryableInfo | None = None
            is_current = False
            for face in list(region.unasked):
                if not is_current:
                    # Their region does not relay, so the info is the same for all of them.
                    info = entity.info_for(face)
                    is_current = True
                self._align(entity, face, info)
                if work.steps <= 0:
                    yield
                    is_current = False

    def _align_announced(self, entity: Entity) -> Job:
        """Announce an entity, as it is now, to the faces below that know of it."""
        for face in list(entity.announced):
            announced = entity.announced.get(face)
            if face.position == BELOW and announced is not None and not announced.is_aggregate:
                info = entity.info_for(face)
                self._align(entity, face, info)
                if info is None and entity.kind == TOKEN:
                    self._endings.add(entity.key, face)
                if self._work.steps <= 0:
                    yield

    def _find_unaware(self, token: Entity, interests: list[DownInterest]) -> Job:
        """Find the faces to which a token that is gone now was never announced."""
        last_number = self._endings.last_number_before(token.key)
        if last_number == 0:
            return
        work = self._work
        for interest in interests:
            if interest.number <= last_number and interest.face not in token.announced:
                self._endings.add(token.key, interest.face)
            work.steps -= 1
            if work.steps <= 0:
                yield

    def discard_ending(self, entity: Entity) -> None:
        """Forget which faces know of the end of a token, once no job announces it any more."""
        if entity.kind == TOKEN:
            token = self._tables.entities[TOKEN].get(entity.key)
            if token is None or not token.has_gone_holder():
                self._endings.discard_if_over(entity.key)

    def _announce_end(self, token: Entity, source: Face, face: Face) -> None:
        """Announce the end of a token to a face that never got it, unless a face still holds it."""
        if token.info_for(face) is not None or self._endings.has(token.key, face):
            return
        announced = token.announced.get(face)
        if announced is not None and not announced.is_aggregate:
            return  # the job of the holder that went last undeclares it
        is_own = is_own_token(token, face, source) or self.deferred_tokens.has(token, face)
        if _may_know(face, source) and not is_own:
            self._endings.add(token.key, face)
            self._announce_token_gone(face, token.key)

    def announce_deferred(self, late: DeferredToken) -> Job:
        """Announce a token to a peer, now that it is not the peer's own."""
        face = late.face
        found: list[DownInterest] = []
        yield from self._find_interests(TOKEN, late.key, found)
        for interest in found:
            if interest.face is face and (late.is_new or interest.mode != InterestMode.FUTURE):
                token = self._tables.entities[TOKEN].get(late.key)
                info = None if token is None else token.info_for(face)
                if token is None or info is None or face in token.announced:
                    return
                if interest.is_live():
                    self.announce(token, face, info, None)
            self._work.steps -= 1
            if self._work.steps <= 0:
                yield

    def end_unknown_token(self, key: str) -> Job:
        """Announce the end of a token, which this node never knew, to all interests in tokens."""
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
                self._announce_token_gone(below, key)
            self._work.steps -= 1
            if self._work.steps <= 0:
                yield

    def _find_interests(self, kind: int, key: str, found: list[DownInterest]) -> Job:
        """Put the interests of faces below that `key` concerns into `found`."""
        table = self._tables.interests
        found.extend(table.unrestricted(kind))
        search = table.search(kind, key)
        if search is not None:
            while not self._work.search(search):
                yield
            for group in search.found:
                found.extend(group)

    def introduce(self, face: Face) -> Job:
        """Announce to a new face all entities that it may know."""
        for table in self._tables.entities:
            for entity in table.all():
                if face.is_gone:
                    return
                self._align(entity, face, entity.info_for(face))
                if self._work.steps <= 0:
                    yield

    def announce(
        self, entity: Entity, face: Face, info: QueryableInfo, interest_id: int | None
    ) -> Announced:
        """Declare `entity` to `face`, again under the same id if it was before."""
        announced = entity.announced.get(face)
        if announced is None:
            has_ids = not face.is_multicast and face.position != BESIDE
            announced = Announced(face.next_id() if has_ids else 0, info, False)
            entity.announced.put(face, announced)
            face.announced[entity.kind][entity.key] = entity
            face.account.add(ANNOUNCED_BYTES)
            if entity.kind == TOKEN:
                self._endings.discard(entity.key, face)
        announced.info = info
        sourced = face.region.sourced
        if face.position == BESIDE and sourced is not None:
            sourced.declare_down(sourced.own, entity.kind, entity.key, info)
            return announced
        self._work.steps -= SEND_STEPS
        send_declaration(face, entity.kind, announced.id, entity.key, info, interest_id)
        return announced

    def answer_aggregate(self, interest: DownInterest, kind: int) -> Job:
        """Send the one declaration that answers an aggregate interest, if anything matches."""
        found: list[QueryableInfo] = []
        yield from self._merge(interest, kind, found)
        if found and interest.is_live():
            entity = self._tables.entities[kind].get_or_add(interest.key)
            self.announce(entity, interest.face, found[0], interest.id).is_aggregate = True

    def _align_aggregate(self, interest: DownInterest, changed: Entity, in_answer: bool) -> Job:
        """Keep one declaration on the interest's own key while anything matches it (§3.6)."""
        face = interest.face
        kind = changed.kind
        table = self._tables.entities[kind]
        wanted = in_answer and interest.pending is not None
        announced = self._announced_aggregate(interest, kind)
        if (
            announced is not None
            and kind != QUERYABLE
            and not wanted
            and changed.info_for(face) is not None
        ):
            return  # the face knows already that something matches
        found: list[QueryableInfo] = []
        yield from self._merge(interest, kind, found)
        if not interest.is_live():
            return
        entity = table.get(interest.key)
        announced = self._announced_aggregate(interest, kind)
        if not found:
            if entity is not None and announced is not None:
                self._withdraw(entity, face)
                table.discard_if_empty(entity)
            return
        if announced is None or announced.info != found[0] or wanted:
            if entity is None:
                entity = table.get_or_add(interest.key)
            announced = self.announce(entity, face, found[0], interest.id if wanted else None)
        announced.is_aggregate = True

    def _announced_aggregate(self, interest: DownInterest, kind: int) -> Announced | None:
        entity = self._tables.entities[kind].get(interest.key)
        return None if entity is None else entity.announced.get(interest.face)

    def _merge(self, interest: DownInterest, kind: int, found: list[QueryableInfo]) -> Job:
        """Put the merged info of all entities that match an interest into `found`, if any do."""
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
                    if kind != QUERYABLE:  # all have the same info
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
        """An aggregate interest ended: its declaration ends with it, without a message."""
        face = interest.face
        entity = self._tables.entities[kind].get(interest.key)
        if entity is None or face not in entity.announced:
            return
        if entity.info_for(face) is not None:
            entity.announced.require(face).is_aggregate = False
            return
        self.forget_announced(entity, face)

    def forget_announced(self, entity: Entity, face: Face) -> None:
        """Forget that `entity` was announced to `face`, without a message."""
        del entity.announced[face]
        del face.announced[entity.kind][entity.key]
        face.account.release(ANNOUNCED_BYTES)
        self._tables.entities[entity.kind].discard_if_empty(entity)

    def _announce_token_gone(self, face: Face, key: str) -> None:
        """Undeclare, by its key, a token that was never announced to `face` (§3.6)."""
        self._work.steps -= SEND_STEPS
        send_undeclaration_of_key(face, TOKEN, key)

    def _offer(
        self, entity: Entity, interest: DownInterest, info: QueryableInfo, in_answer: bool
    ) -> None:
        if in_answer and interest.pending is not None:
            self.announce(entity, interest.face, info, interest.id)
        elif entity.kind == TOKEN and self.deferred_tokens.defers(entity, interest.face):
            return
        elif interest.face not in entity.announced or (in_answer and _awaits(interest)):
            self.announce(entity, interest.face, info, None)

    def _align(self, entity: Entity, face: Face, info: QueryableInfo | None) -> None:
        """Announce, update or withdraw an entity, so that `face` knows `info` of it."""
        self._work.steps -= 1
        if face.is_gone or (face.is_multicast and entity.kind != SUBSCRIBER):
            return
        announced = entity.announced.get(face)
        if info is None:
            if announced is not None:
                self._withdraw(entity, face)
        elif announced is None or announced.info != info:
            self.announce(entity, face, info, None)

    def _withdraw(self, entity: Entity, face: Face) -> None:
        announced = entity.announced.require(face)
        del entity.announced[face]
        del face.announced[entity.kind][entity.key]
        face.account.release(ANNOUNCED_BYTES)
        sourced = face.region.sourced
        if face.position == BESIDE and sourced is not None:
            sourced.undeclare_down(sourced.own, entity.kind, entity.key)
            return
        self._work.steps -= SEND_STEPS
        if not face.is_multicast:
            send_undeclaration(face, entity.kind, announced.id, entity.key)


def _awaits(interest: DownInterest) -> bool:
    """Whether a gateway was sent this interest again and has not answered completely.

    The face may know the entity already, but from the answer to another of its interests.
    """
    return any(not up.is_final and up.mode == InterestMode.CURRENT_FUTURE for up in interest.up)


def _may_know(face: Face, source: Face) -> bool:
    """Whether `face` may know of tokens that `source` declares."""
    if source is face:
        return face.is_local
    return source.region is not face.region or face.region.relays
