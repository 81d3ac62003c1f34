"""`ReceivedInterests`: INTERESTs of faces below, and the answers to them (§3.2)."""

from __future__ import annotations

from zenlake.routing.declarations.announcer import Announcer
from zenlake.routing.declarations.declare_messages import send_declaration, send_final
from zenlake.routing.declarations.entity import PLAIN, QUERYABLE, SUBSCRIBER, TOKEN, Entity
from zenlake.routing.declarations.gateway_interests import GatewayInterests
from zenlake.routing.declarations.interest import KEYS_BIT, KIND_BITS, DownInterest, options_of
from zenlake.routing.face import Face
from zenlake.routing.memory import interest_bytes
from zenlake.routing.region import ABOVE, BESIDE, EQUAL
from zenlake.routing.tables import Tables
from zenlake.routing.work import MESSAGE_STEPS, SEND_STEPS, Job
from zenlake.wire import Interest
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.whatami import WhatAmI

_TOKEN_BIT = KIND_BITS[TOKEN]
_DATA_BITS = KIND_BITS[SUBSCRIBER] | KIND_BITS[QUERYABLE]


class ReceivedInterests:
    __slots__ = ("_announcer", "_gateway_interests", "_tables")

    def __init__(
        self, tables: Tables, announcer: Announcer, gateway_interests: GatewayInterests
    ) -> None:
        self._tables = tables
        self._announcer = announcer
        self._gateway_interests = gateway_interests

    def receive(self, face: Face, message: Interest, now: float) -> None:
        if face.position in (ABOVE, BESIDE) or face.is_multicast:
            self._tables.counters.ignored_interests += 1
        elif message.mode == InterestMode.FINAL:
            self._end(face, message.id)
        else:
            interest = self._read(face, message)
            if interest is not None:
                self._accept(interest, now)

    def remove_face(self, face: Face) -> Job:
        work = self._tables.work
        for id in list(face.interests):
            self._end(face, id)
            work.steps -= MESSAGE_STEPS
            if work.steps <= 0:
                yield

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
        if is_new and not self._may_register(interest):
            self._tables.counters.refused_interests += 1
            return
        if is_new:
            face.interests[interest.id] = interest
            if interest.options & KEYS_BIT:
                face.allow_aliases(interest.key)
        # An equal face gets all declarations without an interest: there is nothing to register
        # or to send to gateways.
        if face.position != EQUAL:
            if is_new or not is_lasting:
                self._gateway_interests.forward(interest, now)
            if is_new:
                # The interest is registered before it is answered, because an answer may take
                # several slices: what is declared meanwhile is announced as well.
                self._register(interest)
        if face.is_local and not is_lasting:
            # The application waits for D_FINAL only, and there may be many tokens.
            self._tables.work.run(self._answer(interest))
        else:
            self._tables.work.run_for(face, self._answer(interest))

    def _may_register(self, interest: DownInterest) -> bool:
        """Whether both limits allow its face one more interest; if so it is charged."""
        face = interest.face
        limit = self._tables.settings.interests_max
        if len(face.interests) >= limit and not face.is_local:
            face.account.refuse("limits/routing/interests", limit)
            return False
        return face.account.charge(interest_bytes(interest.key, len(interest.kinds())))

    def _register(self, interest: DownInterest) -> None:
        self._tables.interests.add(interest)
        if interest.aggregate:
            counts = interest.face.aggregates
            for kind in interest.kinds():
                place = (kind, interest.key)
                counts[place] = counts.get(place, 0) + 1

    def _answer(self, interest: DownInterest) -> Job:
        """Send what is known now, then D_FINAL unless a gateway has not answered yet."""
        if interest.mode != InterestMode.FUTURE:
            for kind in interest.kinds():
                if interest.aggregate:
                    yield from self._announcer.answer_aggregate(interest, kind)
                else:
                    yield from self._answer_all(interest, kind)
        interest.is_answered = True
        if interest.pending is None and not interest.face.is_gone:
            send_final(interest.face, interest.id)

    def _answer_all(self, interest: DownInterest, kind: int) -> Job:
        work = self._tables.work
        table = self._tables.entities[kind]
        entities: list[Entity] = []
        is_finished = True
        if not interest.key:
            entities = table.all()
        else:
            search = table.search(interest.key)
            is_finished = work.search(search)
            entities = search.found
        sent = 0
        while True:
            while sent < len(entities):
                if interest.face.is_gone:
                    return
                self._declare(interest, entities[sent])
                sent += 1
                if work.steps <= 0:
                    yield
            if is_finished:
                return
            yield
            is_finished = work.search(search)

    def _declare(self, interest: DownInterest, entity: Entity) -> None:
        """Send one declaration of an answer."""
        work = self._tables.work
        face = interest.face
        work.steps -= 1
        info = entity.info_for(face, is_answer=interest.mode == InterestMode.CURRENT)
        if info is None:
            return
        if interest.mode != InterestMode.CURRENT:
            if entity.kind != TOKEN or not self._announcer.deferred_tokens.defers(entity, face):
                self._announcer.announce(entity, face, info, interest.id)
            return
        pending = interest.pending
        if pending is not None:
            if entity.key in pending.answered_keys:
                return
            pending.answered_keys.add(entity.key)
        work.steps -= SEND_STEPS
        send_declaration(face, entity.kind, 0, entity.key, PLAIN, interest.id)

    def _end(self, face: Face, id: int) -> None:
        interest = face.interests.pop(id, None)
        if interest is None:
            self._tables.counters.unknown_undeclarations += 1
            return
        face.account.release(interest_bytes(interest.key, len(interest.kinds())))
        if interest.options & KEYS_BIT:
            face.disallow_aliases(interest.key)
        self._tables.interests.remove(interest)
        self._gateway_interests.end(interest)
        if interest.aggregate:
            for kind in interest.kinds():
                if self._is_last_aggregate(interest, kind):
                    self._announcer.forget_aggregate(interest, kind)

    def _is_last_aggregate(self, interest: DownInterest, kind: int) -> bool:
        """Decrement the count of aggregate interests on a key; whether none is left."""
        counts = interest.face.aggregates
        place = (kind, interest.key)
        left = counts.pop(place, 1) - 1
        if left > 0:
            counts[place] = left
        return left == 0
