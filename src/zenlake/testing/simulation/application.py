"""Application: the user of one node; runs the operations of the workload and answers queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.keyexpr.matching import intersects
from zenlake.session import Locality
from zenlake.session.incoming_query import IncomingQuery
from zenlake.session.matching import MatchingSource
from zenlake.session.open_query import OpenQuery
from zenlake.session.queries import QuerySpec
from zenlake.testing.simulation.items import ReceivedQuery
from zenlake.testing.simulation.journal import InvariantError
from zenlake.testing.simulation.records import (
    Get,
    ListenerRecord,
    Publication,
    Queryable,
    Record,
    ReplyRecord,
    SourceRecord,
    Subscriber,
    Token,
    Watcher,
)
from zenlake.wire import ConsolidationMode, Del, Err, Put, QoS, QueryTarget, Timestamp

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode


class Application:
    """Every operation is recorded in the ledger before it is executed."""

    def __init__(self, node: SimulatedNode) -> None:
        self.node = node
        self.core = node.core
        self.ledger = node.world.ledger
        self._queries: dict[Get, OpenQuery] = {}
        self._unanswered: list[IncomingQuery] = []
        self._last_stamp: Timestamp | None = None

    def _note(self, text: str, *details: object) -> None:
        self.node.journal.note(self.node.name, text, *details)

    # --- declarations ----------------------------------------------------------------------------

    def subscribe(self, key: str, origin: Locality = Locality.ANY) -> None:
        record = Subscriber(self.node, key, self.ledger.publications)
        record.origin = origin
        self._note("declares %s", record)
        self.ledger.subscribers.append(record)
        now = self.node.now()
        record.entity = self.core.declare_subscriber(key, record, origin, now)

    def serve(self, key: str, is_complete: bool, origin: Locality = Locality.ANY) -> None:
        record = Queryable(self.node, key, is_complete, self._receive_query)
        record.origin = origin
        self._note("declares %s", record)
        self.ledger.queryables.append(record)
        now = self.node.now()
        record.entity = self.core.declare_queryable(key, record, is_complete, origin, now)

    def declare_token(self, key: str) -> None:
        record = Token(self.node, key)
        self._note("declares %s", record)
        self.ledger.tokens.append(record)
        record.entity = self.core.declare_token(key, self.node.now())

    def watch(self, key: str, with_history: bool) -> None:
        record = Watcher(self.node, key, with_history, self.ledger.tokens)
        self._note("declares %s, history %s", record, with_history)
        self.ledger.watchers.append(record)
        now = self.node.now()
        record.entity = self.core.declare_liveliness_subscriber(key, record, with_history, now)

    def declare_source(self, key: str, is_querier: bool, *, listens: bool) -> None:
        record = SourceRecord(self.node, key, is_querier)
        self._note("declares %s, querier %s", record, is_querier)
        self.ledger.sources.append(record)
        now = self.node.now()
        if is_querier:
            source = self.core.declare_querier(key, Locality.ANY, False, now)
        else:
            source = self.core.declare_publisher(key, Locality.ANY, now)
        record.entity = source
        if listens:
            listener = ListenerRecord(self.node, record)
            self.ledger.listeners.append(listener)
            listener.entity = self.core.declare_matching_listener(source, listener, now)

    def undeclare(self, record: Record) -> None:
        self._note("undeclares %s", record)
        assert record.entity is not None
        self.core.undeclare(record.entity, self.node.now())
        record.close()
        if isinstance(record, SourceRecord):
            for listener in self.ledger.listeners:
                if listener.source is record:
                    listener.close()
            self._drop_queries_of(record)

    def _drop_queries_of(self, querier: SourceRecord) -> None:
        entity = querier.entity
        for get, query in self._queries.items():
            if isinstance(entity, MatchingSource) and query.owner_eid == entity.eid:
                self.ledger.cancel(get)

    # --- publications and queries ----------------------------------------------------------------

    def publish(
        self, key: str, qos: QoS, size: int | None, destination: Locality = Locality.ANY
    ) -> None:
        """A put of `size` bytes, or a delete."""
        number = len(self.ledger.publications)
        name = b"%d" % number
        body = Del(attachment=name) if size is None else Put(b"x" * size, attachment=name)
        record = Publication(number, self.node, key, int(qos.priority), body, destination)
        self._note("publishes %s on `%s`, %s bytes", number, key, size)
        self.ledger.record_publication(record)
        prepared = self.core.publications.prepare(key, qos, True, destination, None)
        self.core.put(prepared, body, None, self.node.now())
        self._check_stamp(body.timestamp)

    def _check_stamp(self, stamp: Timestamp | None) -> None:
        """Timestamps of a node never go back, even if its wall clock does (limits: T06)."""
        if stamp is None:
            return
        if self._last_stamp is not None and stamp <= self._last_stamp:
            raise InvariantError(f"{self.node.name}: timestamp {stamp} after {self._last_stamp}")
        self._last_stamp = stamp

    def get(
        self,
        key: str,
        timeout_s: float,
        target: QueryTarget,
        mode: ConsolidationMode,
        querier: SourceRecord | None,
    ) -> None:
        ledger = self.ledger
        number = len(ledger.gets)
        record = Get(number, self.node, key, timeout_s, target, mode, ledger.replies)
        self._note("sends %s, %s, %s", record, target, mode)
        ledger.record_query(record)
        owner = 0
        if querier is not None and isinstance(querier.entity, MatchingSource):
            owner = querier.entity.eid
        spec = QuerySpec(
            QoS(13), int(timeout_s * 1000), target=target, consolidation=mode, owner_eid=owner
        )
        now = self.node.now()
        self._queries[record] = self.core.get(key, f"n={number}", spec, record, now)

    def get_liveliness(self, key: str, timeout_s: float) -> None:
        ledger = self.ledger
        number = len(ledger.gets)
        mode, target = ConsolidationMode.NONE, QueryTarget.ALL
        record = Get(number, self.node, key, timeout_s, target, mode, ledger.replies)
        self._note("queries tokens: %s", record)
        ledger.record_liveliness_query(record)
        now = self.node.now()
        query = self.core.liveliness_get(key, record, int(timeout_s * 1000), now)
        self._queries[record] = query

    def cancel_one(self) -> None:
        for get, query in self._queries.items():
            if query.is_open:
                self._note("cancels %s", get)
                self.ledger.cancel(get)
                query.abandon()
                return

    # --- answers ---------------------------------------------------------------------------------

    def _receive_query(self, queryable: Queryable, item: ReceivedQuery) -> None:
        number = int(item.incoming.parameters.removeprefix("n="))
        get = self.ledger.gets[number]
        if self.node.world.reach.was_settled(get.declared_at):
            if number in queryable.received:
                raise queryable.fail(f"query {number} arrived twice")
            if not queryable.may_receive_from(get.node):
                raise queryable.fail(f"{get} was not for it")
        queryable.received.add(number)
        promise = get.promises.get(queryable)
        if promise is not None:
            promise.is_kept = True
        self._note("%s receives %s", queryable, get)
        self._unanswered.append(item.incoming)
        rng = self.node.rng
        mood = rng.random()
        if mood < 0.1:
            return
        delay_s = rng.choice((0.0, 0.0, 0.05, 0.4, 2.0))
        for _ in range(rng.randint(0, 2)):
            self.node.later(delay_s, lambda: self._reply(queryable, item, get, mood < 0.2))
        self.node.later(delay_s, lambda: self._drop(item.incoming))

    def _reply(self, queryable: Queryable, item: ReceivedQuery, get: Get, is_error: bool) -> None:
        if item.incoming not in self._unanswered:
            return
        now = self.node.now()
        if is_error:
            self.core.reply_error(item.incoming, item.eid, Err(b"no"), now)
            return
        query_key = item.incoming.key
        key = queryable.key if "*" not in queryable.key and "*" in query_key else query_key
        if not intersects(key, query_key):
            key = query_key
        number = len(self.ledger.replies)
        reply = ReplyRecord(number, get, key)
        self._note("reply %s to %s", number, get)
        self.ledger.record_reply(reply, queryable)
        body = Put(b"", attachment=b"%d" % number)
        self.core.reply(item.incoming, item.eid, key, body, None, now)

    def _drop(self, incoming: IncomingQuery) -> None:
        if incoming in self._unanswered:
            self._unanswered.remove(incoming)
            self.core.drop_query(incoming, self.node.now())

    def leave(self) -> None:
        """Called before its node ends: its queries need no reply any more."""
        for get in self._queries:
            self.ledger.cancel(get)

    def finish(self) -> None:
        """Drop unanswered queries, and undeclare everything."""
        for incoming in list(self._unanswered):
            self._drop(incoming)
        for record in self.ledger.live(self.node):
            self.undeclare(record)
