"""`GatewayInterests`: interests of nodes below, forwarded to the gateways (§3.2, rules 4 to 6).

Equal interests (same key, options and mode) of several faces are sent once, and ended when
the last of them ends.
"""

from __future__ import annotations

from zenlake.routing.declarations.declare_messages import send_declaration, send_final
from zenlake.routing.declarations.entity import PLAIN, QUERYABLE, SUBSCRIBER, TOKEN
from zenlake.routing.declarations.interest import (
    KEYS_BIT,
    KIND_BITS,
    DownInterest,
    PendingAnswer,
    UpInterest,
)
from zenlake.routing.face import CONTROL, Face
from zenlake.routing.tables import Tables
from zenlake.routing.timers import TIMERS_PER_SLICE, Timers
from zenlake.routing.work import SEND_STEPS, Job
from zenlake.wire import Interest
from zenlake.wire.values.choices import InterestMode


class GatewayInterests:
    __slots__ = ("_tables", "timers")

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.timers = Timers()

    def forward(self, interest: DownInterest, now: float) -> None:
        """Forward an interest to all gateways; a liveliness get to one of them only.

        `interest.pending` is set if the answer must wait for the answers of gateways.
        """
        pending = PendingAnswer(interest, now + self._tables.settings.interest_timeout_s)
        for gateway in self._tables.gateways():
            is_full = len(gateway.up_by_id) >= self._tables.settings.interests_max
            if is_full and not interest.face.is_local:
                self._tables.counters.refused_interests += 1
                continue
            up = self._join(gateway, interest, interest.mode)
            if interest.mode != InterestMode.FUTURE and not up.is_final:
                up.waiting.append(pending)
                pending.missing += 1
            if interest.mode == InterestMode.CURRENT:
                break
        if pending.missing:
            interest.pending = pending
            self.timers.start(pending)

    def forward_all(self, gateway: Face) -> Job:
        """Send all interests to a new gateway, FUTURE ones as CURRENT_FUTURE."""
        work = self._tables.work
        for region in self._tables.regions:
            if region.is_north:
                continue
            for face in list(region.faces):
                for interest in list(face.interests.values()):
                    if gateway.is_gone:
                        return
                    if interest.is_live() and not _is_joined(interest, gateway):
                        self._join(gateway, interest, InterestMode.CURRENT_FUTURE)
                    if work.steps <= 0:
                        yield

    def end(self, interest: DownInterest) -> None:
        """End what was sent because of an interest that ended, by FINAL or with its face."""
        if interest.pending is not None:
            self.timers.cancel(interest.pending)
            interest.pending = None
        for up in interest.up:
            up.users.pop(interest, None)
            if not up.users:
                self._forget(up)
                if not up.face.is_gone:
                    up.face.send(Interest(InterestMode.FINAL, up.id, qos=CONTROL), "")
        interest.up.clear()

    def remove_gateway(self, gateway: Face) -> Job:
        """A gateway is gone: no answer waits for it any longer."""
        work = self._tables.work
        for up in list(gateway.up_by_id.values()):
            for interest in up.users:
                interest.up.remove(up)
            self._note_answer(up)
            work.steps -= SEND_STEPS
            if work.steps <= 0:
                yield
        gateway.up_by_id.clear()
        gateway.up_interests.clear()

    def receive_final(self, face: Face, interest_id: int) -> None:
        up = face.up_by_id.get(interest_id)
        if up is None:
            self._tables.counters.unknown_undeclarations += 1
            return
        if not up.is_final:
            up.is_final = True
            self._count_answer(up, 1)
        self._note_answer(up)
        if up.mode == InterestMode.CURRENT:
            for interest in up.users:
                interest.up.remove(up)
            self._forget(up)

    def relay_token(self, face: Face, interest_id: int, key: str) -> bool:
        """Forward the answer to a liveliness get, without remembering it.

        False for a token of a lasting interest: releases before 1.10 number tokens from 0 (SN-100).
        """
        up = face.up_by_id.get(interest_id)
        if up is None:
            return True
        if up.mode != InterestMode.CURRENT:
            return False
        for pending in up.waiting:
            interest = pending.interest
            if pending.is_ended or interest.face.is_gone or key in pending.answered_keys:
                continue
            pending.answered_keys.add(key)
            send_declaration(interest.face, TOKEN, 0, key, PLAIN, interest.id)
        return True

    def handle_timeout(self, now: float) -> None:
        for timer in self.timers.pop_due(now, TIMERS_PER_SLICE):
            assert isinstance(timer, PendingAnswer)
            self._tables.counters.timed_out_interests += 1
            self._answer(timer)
            for up in list(timer.interest.up):
                if up.mode == InterestMode.CURRENT:
                    timer.interest.up.remove(up)
                    self._forget(up)

    def _join(self, gateway: Face, interest: DownInterest, mode: InterestMode) -> UpInterest:
        """The interest at a gateway that serves `interest`, sent now if there is none."""
        place = (interest.key, interest.options, int(interest.mode))
        up = None if mode == InterestMode.CURRENT else gateway.up_interests.get(place)
        if up is None:
            up = UpInterest(gateway, gateway.next_id(), interest.key, interest.options, mode)
            up.place = place
            gateway.up_by_id[up.id] = up
            if mode != InterestMode.CURRENT:
                gateway.up_interests[place] = up
            gateway.send(_message(up), up.key)
            self._tables.work.steps -= SEND_STEPS
        up.users[interest] = None
        interest.up.append(up)
        return up

    def _note_answer(self, up: UpInterest) -> None:
        """A gateway has answered, or is gone: complete the answers that wait only for it."""
        for pending in up.waiting:
            pending.missing -= 1
            if pending.missing == 0 and not pending.is_ended:
                self.timers.cancel(pending)
                self._answer(pending)
        up.waiting.clear()

    def _answer(self, pending: PendingAnswer) -> None:
        """Send D_FINAL, unless this node is still sending its own part; then D_FINAL follows it."""
        interest = pending.interest
        interest.pending = None
        if interest.is_answered and not interest.face.is_gone:
            send_final(interest.face, interest.id)

    def _forget(self, up: UpInterest) -> None:
        if up.is_final:
            self._count_answer(up, -1)
        up.face.up_by_id.pop(up.id, None)
        if up.mode != InterestMode.CURRENT:
            up.face.up_interests.pop(up.place, None)

    def _count_answer(self, up: UpInterest, change: int) -> None:
        """Note for which keys a gateway has declared all: CURRENT_FUTURE interests only."""
        if up.mode != InterestMode.CURRENT_FUTURE:
            return
        for kind in up.kinds():
            answered = up.face.answered[kind]
            count = answered.get(up.key, 0) + change
            if count > 0:
                answered[up.key] = count
            else:
                answered.pop(up.key, None)
            self._tables.forget_routes_of(kind, up.key)


def _is_joined(interest: DownInterest, gateway: Face) -> bool:
    return any(up.face is gateway for up in interest.up)


def _message(up: UpInterest) -> Interest:
    return Interest(
        up.mode,
        up.id,
        keyexprs=up.options & KEYS_BIT != 0,
        subscribers=up.options & KIND_BITS[SUBSCRIBER] != 0,
        queryables=up.options & KIND_BITS[QUERYABLE] != 0,
        tokens=up.options & KIND_BITS[TOKEN] != 0,
        key=up.face.declared(up.key) if up.key else None,
        qos=CONTROL,
    )
