"""`Interests`: INTERESTs that come from faces below, and what they are answered (§3.2)."""

from __future__ import annotations

from zenlake.routing.announcements import Announcer, send_declaration, send_final
from zenlake.routing.entity import KINDS, PLAIN, QUERYABLE, SUBSCRIBER, TOKEN
from zenlake.routing.face import Face
from zenlake.routing.interest import KEYS_BIT, KIND_BITS, DownInterest, options_of
from zenlake.routing.region import ABOVE, EQUAL
from zenlake.routing.tables import Tables
from zenlake.routing.upward import Upward
from zenlake.wire._generated.network import Interest
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.whatami import WhatAmI

_TOKEN_BIT = KIND_BITS[TOKEN]
_DATA_BITS = KIND_BITS[SUBSCRIBER] | KIND_BITS[QUERYABLE]


class Interests:
    __slots__ = ("_announcer", "_tables", "_upward")

    def __init__(self, tables: Tables, announcer: Announcer, upward: Upward) -> None:
        self._tables = tables
        self._announcer = announcer
        self._upward = upward

    def receive(self, face: Face, message: Interest, now: float) -> None:
        if face.position == ABOVE or face.is_multicast:
            self._tables.counters.ignored_interests += 1
        elif message.mode == InterestMode.FINAL:
            self._end(face, message.id)
        else:
            interest = self._read(face, message)
            if interest is not None:
                self._accept(interest, now)

    def remove_face(self, face: Face) -> None:
        for id in list(face.interests):
            self._end(face, id)

    def _read(self, face: Face, message: Interest) -> DownInterest | None:
        """The interest a message means, None if it is to be ignored."""
        options = options_of(message)
        is_current = message.mode == InterestMode.CURRENT
        if is_current and (options & _DATA_BITS or not options & _TOKEN_BIT):
            self._tables.counters.ignored_interests += 1
            return None
        key = ""
        if message.key is not None:
            resolved = self._tables.resolve(face, message.key)
            if resolved is None:
                return None
            key = resolved
        # No aggregates of tokens, none for peers, and none without a key to declare them on.
        aggregate = (
            message.aggregate
            and key != ""
            and not options & _TOKEN_BIT
            and face.role == WhatAmI.CLIENT
        )
        return DownInterest(face, message.id, key, options, message.mode, aggregate)

    def _accept(self, interest: DownInterest, now: float) -> None:
        face = interest.face
        is_lasting = interest.mode != InterestMode.CURRENT
        # An id that is in use is answered again, but not registered twice.
        is_new = is_lasting and interest.id not in face.interests
        is_full = len(face.interests) >= self._tables.settings.interests_max
        if is_new and is_full and not face.is_local:
            self._tables.counters.refused_interests += 1
            return
        if is_new:
            face.interests[interest.id] = interest
            if interest.options & KEYS_BIT:
                face.allow_aliases(interest.key)
        if face.position == EQUAL:
            # It hears of everything unasked: there is nothing to register or to ask above.
            self._answer(interest)
            send_final(face, interest.id)
            return
        if is_new or not is_lasting:
            self._upward.ask(interest, now)
        self._answer(interest)
        if is_new:
            self._tables.interests.add(interest)
        if interest.pending is None:
            send_final(face, interest.id)

    def _answer(self, interest: DownInterest) -> None:
        """What is known now, as part of the answer."""
        if interest.mode == InterestMode.FUTURE:
            return
        for kind in KINDS:
            if not interest.options & KIND_BITS[kind]:
                continue
            if interest.aggregate:
                self._answer_aggregate(interest, kind)
            else:
                self._answer_all(interest, kind)

    def _answer_all(self, interest: DownInterest, kind: int) -> None:
        face = interest.face
        for entity in self._tables.entities[kind].matching(interest.key):
            info = entity.info_for(face)
            if info is None:
                continue
            if interest.mode == InterestMode.CURRENT:
                if interest.pending is not None:
                    interest.pending.told_keys.add(entity.key)
                send_declaration(face, kind, 0, entity.key, PLAIN, interest.id)
            else:
                self._announcer.tell(entity, face, info, interest.id)

    def _answer_aggregate(self, interest: DownInterest, kind: int) -> None:
        table = self._tables.entities[kind]
        info = table.aggregate_for(interest.face, interest.key)
        if info is not None:
            entity = table.get_or_add(interest.key)
            told = self._announcer.tell(entity, interest.face, info, interest.id)
            told.is_aggregate = True

    def _end(self, face: Face, id: int) -> None:
        interest = face.interests.pop(id, None)
        if interest is None:
            self._tables.counters.unknown_undeclarations += 1
            return
        if interest.options & KEYS_BIT:
            face.disallow_aliases(interest.key)
        self._tables.interests.remove(interest)
        self._upward.end(interest)
        if interest.aggregate:
            for kind in KINDS:
                if interest.options & KIND_BITS[kind] and not self._has_twin(interest, kind):
                    self._announcer.forget_aggregate(interest, kind)

    def _has_twin(self, interest: DownInterest, kind: int) -> bool:
        """Whether the face has another aggregate interest on the same key."""
        return any(
            other.aggregate and other.face is interest.face and other.key == interest.key
            for other in self._tables.interests.matching(kind, interest.key)
        )
