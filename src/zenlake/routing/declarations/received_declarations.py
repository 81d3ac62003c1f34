"""`ReceivedDeclarations`: D_x and U_x from faces (§3.5, §3.6)."""

from __future__ import annotations

from zenlake.routing.declarations.announcer import Announcer
from zenlake.routing.declarations.entity import (
    KINDS,
    NO_ID,
    PLAIN,
    QUERYABLE,
    SUBSCRIBER,
    TOKEN,
    Holding,
)
from zenlake.routing.declarations.gateway_interests import GatewayInterests
from zenlake.routing.face import Face
from zenlake.routing.memory import declaration_bytes
from zenlake.routing.region import BELOW, BESIDE, EQUAL
from zenlake.routing.tables import Tables
from zenlake.routing.work import MESSAGE_STEPS, Job
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.message import Message
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.wire_expr import WireExpr


class ReceivedDeclarations:
    __slots__ = ("_announcer", "_gateway_interests", "_tables")

    def __init__(
        self, tables: Tables, announcer: Announcer, gateway_interests: GatewayInterests
    ) -> None:
        self._tables = tables
        self._announcer = announcer
        self._gateway_interests = gateway_interests

    def receive(self, face: Face, message: Declare) -> None:
        body = message.body
        if isinstance(body, DeclareKeyExpr):
            self._declare_alias(face, body)
        elif isinstance(body, UndeclareKeyExpr):
            self._undeclare_alias(face, body.expr_id)
        elif isinstance(body, DeclareFinal):
            self._final(face, message.interest_id)
        elif face.position == BESIDE:
            self._receive_sourced(face, message)
        elif isinstance(body, DeclareToken):
            self._declare(face, TOKEN, body.id, body.key, PLAIN, message.interest_id)
        elif isinstance(body, UndeclareToken):
            self._undeclare(face, TOKEN, body.id, body.key)
        elif face.is_multicast:
            # Publications go to the group anyway, and queries never, so subscribers and
            # queryables in the group do not matter.
            self._tables.counters.unexpected_messages += 1
        elif isinstance(body, DeclareSubscriber):
            self._declare(face, SUBSCRIBER, body.id, body.key, PLAIN, message.interest_id)
        elif isinstance(body, UndeclareSubscriber):
            self._undeclare(face, SUBSCRIBER, body.id, body.key)
        elif isinstance(body, DeclareQueryable):
            info = PLAIN if body.info is None else body.info
            self._declare(face, QUERYABLE, body.id, body.key, info, message.interest_id)
        elif isinstance(body, UndeclareQueryable):
            self._undeclare(face, QUERYABLE, body.id, body.key)

    def _receive_sourced(self, face: Face, message: Declare) -> None:
        """A node of a network declares an entity of its own, or forwards one of another (§4.7).

        There are no ids: node and key identify the entity. Repetitions are not forwarded, as a
        declaration may arrive twice when trees change.
        """
        body = message.body
        sourced = face.region.sourced
        source = self._tables.source_of(face, message.node_id)
        if source is None or sourced is None:
            return
        kind, expr = _kind_and_key(body)
        key = None if expr is None else self._tables.resolve(face, expr)
        if key is None:
            return
        entity = self._tables.entities[kind].get(key)
        holding = None if entity is None else entity.holders.get(source)
        if isinstance(body, (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)):
            if not sourced.note_undeclared(source, face, kind, key):
                return
            if holding is None:
                self._tables.counters.unknown_undeclarations += 1
                return
            self._undeclare(source, kind, holding.id, None)
        else:
            info = PLAIN
            if isinstance(body, DeclareQueryable) and body.info is not None:
                info = body.info
            if not sourced.note_declared(source, face, kind, key, info):
                return
            if not self._hold_sourced(source, kind, key, info):
                return
        sourced.pass_on(source, face, message, key)

    def align(self, source: Face, is_complete: bool) -> Job:
        """Hold the entities of a node that its believed neighbour reports.

        `is_complete`: the report is complete, so entities that are not in it are gone.
        """
        sourced = source.region.sourced
        report = None if sourced is None else sourced.parents.report_of(source)
        if sourced is None or report is None:
            return
        work = self._tables.work
        for kind in KINDS:
            for key in list(report.infos[kind]):
                if sourced.parents.report_of(source) is not report:
                    return
                info = report.infos[kind].get(key)
                if info is not None and self._hold_sourced(source, kind, key, info):
                    sourced.declare_down(source, kind, key, info)
                work.steps -= MESSAGE_STEPS
                if work.steps <= 0:
                    yield
            for id, entity in list(source.held[kind].items()) if is_complete else ():
                if sourced.parents.report_of(source) is not report:
                    return
                if entity.key not in report.infos[kind] and source.held[kind].get(id) is entity:
                    self._undeclare(source, kind, id, None)
                    sourced.undeclare_down(source, kind, entity.key)
                work.steps -= MESSAGE_STEPS
                if work.steps <= 0:
                    yield

    def _hold_sourced(self, source: Face, kind: int, key: str, info: QueryableInfo) -> bool:
        """Note that a node of a network has an entity; whether that was unknown."""
        entity = self._tables.entities[kind].get(key)
        holding = None if entity is None else entity.holders.get(source)
        if holding is not None and holding.info == info:
            return False
        id = source.next_id() if holding is None else holding.id
        self._declare_key(source, kind, id, key, info, False)
        return id in source.held[kind]  # a limit forbids to hold it

    def remove_face(self, face: Face) -> Job:
        """End all that a face held, and forget all that was announced to it."""
        work = self._tables.work
        for kind in KINDS:
            for entity in list(face.announced[kind].values()):
                self._announcer.forget_announced(entity, face)
                work.steps -= MESSAGE_STEPS
                if work.steps <= 0:
                    yield
            held = face.held[kind]
            for entity in list(held.values()):
                work.steps -= MESSAGE_STEPS
                holding = entity.holders.get(face)
                if holding is not None:  # the entity ends once, however many ids the holding has
                    del entity.holders[face]
                    face.account.release(declaration_bytes(entity.key))
                    is_news = self._announcer.changes_announcements(entity, face, holding.info)
                    if is_news and not entity.has_gone_holder():
                        yield from self._announcer.change_job(entity, face, False, is_gone=True)
                    else:
                        self._announcer.discard_ending(entity)
                if work.steps <= 0:
                    yield
            held.clear()
        face.declaration_count = 0

    def announce_again(self, source: Face) -> Job:
        """Announce or withdraw what a source holds, after the rules for that changed."""
        for kind in KINDS:
            for entity in list(source.held[kind].values()):
                if source in entity.holders:
                    yield from self._announcer.change_job(entity, source, False, is_gone=False)
                if self._tables.work.steps <= 0:
                    yield

    def handle_timeout(self, now: float) -> None:
        """Announce the tokens whose delay is over."""
        for late in self._announcer.deferred_tokens.pop_due(now):
            self._tables.work.run(self._announcer.announce_deferred(late))

    def _declare_alias(self, face: Face, body: DeclareKeyExpr) -> None:
        counters = self._tables.counters
        # D_KEYEXPR has no M: a number in it is one of ours (wire reference §1.10).
        key = self._tables.resolve(face, WireExpr(body.key.scope, body.key.suffix, False))
        if key is None:
            return
        known = face.keys.theirs.get(body.expr_id)
        if known is not None:
            if known != key:
                counters.redefined_aliases += 1
        elif body.expr_id == 0 or not face.keys.learn(body.expr_id, key):
            counters.refused_aliases += 1
        else:
            self._tables.shorten_routes(key)

    def _undeclare_alias(self, face: Face, expr_id: int) -> None:
        if face.keys.forget(expr_id):
            self._tables.forget_routes()
        else:
            self._tables.counters.unknown_undeclarations += 1

    def _final(self, face: Face, interest_id: int | None) -> None:
        if face.position == EQUAL and interest_id == 0:
            face.is_informed = True
            self._tables.forget_routes()
        elif interest_id is not None:
            self._gateway_interests.receive_final(face, interest_id)

    def _declare(
        self,
        face: Face,
        kind: int,
        id: int,
        expr: WireExpr,
        info: QueryableInfo,
        interest_id: int | None,
    ) -> None:
        key = self._tables.resolve(face, expr)
        if key is None:
            return
        in_answer = interest_id is not None and interest_id != 0
        is_answer = interest_id and kind == TOKEN and id == 0
        if is_answer and self._gateway_interests.relay_token(face, interest_id or 0, key):
            return
        self._declare_key(face, kind, id, key, info, in_answer)

    def _declare_key(
        self, face: Face, kind: int, id: int, key: str, info: QueryableInfo, in_answer: bool
    ) -> None:
        entity = face.held[kind].get(id)
        if entity is None:
            if not self._may_declare(face, key):
                self._tables.counters.refused_declarations += 1
                return
            entity = self._tables.entities[kind].get_or_add(key)
            face.held[kind][id] = entity
            face.declaration_count += 1
        elif entity.key != key:
            self._tables.counters.reused_ids += 1
            return
        holding = entity.holders.get(face)
        is_new = holding is None
        if holding is None:
            holding = Holding()
            entity.holders.put(face, holding)
        before = holding.info
        holding.add(id, info)
        if is_new:
            self._announcer.announce_holder(entity, face, holding.info, in_answer, is_gone=False)
        elif holding.info != before:
            self._announcer.announce_change(entity, face, in_answer)

    def _may_declare(self, face: Face, key: str) -> bool:
        """Whether both limits allow a face one more declaration; if so it is charged."""
        limit = self._tables.settings.declarations_max
        if face.declaration_count >= limit and not face.is_local:
            face.account.refuse("limits/routing/declarations", limit)
            return False
        return face.account.charge(declaration_bytes(key))

    def _undeclare(self, face: Face, kind: int, id: int, key: UndeclaredKey | None) -> None:
        entity = face.held[kind].pop(id, None)
        if entity is None:
            self._undeclare_unknown(face, kind, key)
            return
        face.declaration_count -= 1
        face.account.release(declaration_bytes(entity.key))
        holding = entity.holders.require(face)
        before = holding.info
        holding.remove(id)
        if holding.id == NO_ID:
            del entity.holders[face]
            if entity.has_gone_holder():
                self._tables.forget_routes_of(kind, entity.key)
            else:
                self._announcer.announce_holder(entity, face, before, in_answer=False, is_gone=True)
            if kind == TOKEN:
                self._announcer.deferred_tokens.note_undeclared(entity, face)
            return
        if holding.info != before:
            self._announcer.announce_change(entity, face, in_answer=False)

    def _undeclare_unknown(self, face: Face, kind: int, undeclared: UndeclaredKey | None) -> None:
        """Announce the end of an unknown token to nodes below, who may know it (§3.6)."""
        self._tables.counters.unknown_undeclarations += 1
        if kind != TOKEN or undeclared is None or face.position == BELOW:
            return
        if undeclared.key.scope == 0 and not undeclared.key.suffix:
            return
        key = self._tables.resolve(face, undeclared.key)
        if key is None:
            return
        self._tables.work.run(self._announcer.end_unknown_token(key))


def _kind_and_key(body: Message) -> tuple[int, WireExpr | None]:
    """The kind and key of a declaration or undeclaration of a router."""
    kind = TOKEN
    if isinstance(body, (DeclareSubscriber, UndeclareSubscriber)):
        kind = SUBSCRIBER
    elif isinstance(body, (DeclareQueryable, UndeclareQueryable)):
        kind = QUERYABLE
    if isinstance(body, (DeclareSubscriber, DeclareQueryable, DeclareToken)):
        return kind, body.key
    if isinstance(body, (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)):
        return kind, None if body.key is None else body.key.key
    return kind, None
