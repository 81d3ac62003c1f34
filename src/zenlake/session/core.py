"""`SessionCore`: the session as its node sees it, and as the API uses it.

Every method is called under the node's lock. Messages of the Dispatcher arrive in the `inbox`,
operations of the user come from the API. Finalizers of objects that the garbage collector found
may run at any time, so they only append to `lost` and wake the timer. The timer, or the next
operation, undeclares these objects.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from zenlake.errors import LocalError
from zenlake.session.bulk_put import BulkPut
from zenlake.session.deferred_warnings import DeferredWarnings
from zenlake.session.inbox import SessionInbox
from zenlake.session.incoming_query import IncomingQuery
from zenlake.session.interests import QUERYABLES, SUBSCRIBERS, Interests
from zenlake.session.liveliness import Liveliness, Token, Watcher
from zenlake.session.locality import Locality
from zenlake.session.lost_queries import LostQueries, LostQuery
from zenlake.session.matching import Matching, MatchingEntity, MatchingSource
from zenlake.session.open_query import OpenQuery
from zenlake.session.port import Factory, Port
from zenlake.session.publications import Publication, Publications
from zenlake.session.queries import Queries, QuerySpec
from zenlake.session.queryables import QueryableEntity, Queryables
from zenlake.session.settings import SessionSettings
from zenlake.session.sink import Sink
from zenlake.session.subscribers import Subscribers, Subscription
from zenlake.wire import Del, Encoding, Err, Put, QoS, TimestampStack, ZenohId

if TYPE_CHECKING:
    from zenlake.routing.dispatcher import Dispatcher

Entity = Subscription | QueryableEntity | MatchingSource | MatchingEntity | Token | Watcher

_COUNTED: Final = (
    "dropped_items",
    "late_replies",
    "leaked_queries",
    "mismatched_replies",
    "refused_replies",
    "repeated_finals",
    "stray_finals",
    "stray_replies",
)


class SessionCore:
    """One session without I/O: it joins the parts of the session."""

    __slots__ = (
        "_lost_queries",
        "_warnings",
        "inbox",
        "interests",
        "is_closed",
        "liveliness",
        "lost",
        "matching",
        "on_admin_key",
        "port",
        "publications",
        "queries",
        "queryables",
        "settings",
        "subscribers",
        "zid",
    )

    def __init__(
        self,
        zid: ZenohId,
        dispatcher: Dispatcher,
        factory: Factory,
        wall_ns: Callable[[], int],
        settings: SessionSettings,
        report: Callable[[str], None],
    ) -> None:
        self.zid = zid
        self.settings = settings
        port = Port(zid, dispatcher, factory, wall_ns, settings)
        self.port = port
        self.interests = Interests(port)
        self.subscribers = Subscribers(port)
        self.publications = Publications(port, self.subscribers)
        self.queryables = Queryables(port)
        self.queries = Queries(port, self.queryables)
        self.liveliness = Liveliness(port, self.interests, self.queries)
        self.matching = Matching(port, self.interests, self.subscribers, self.queryables)
        self.inbox = SessionInbox(self)
        self.lost: deque[Entity | LostQuery] = deque()
        self._lost_queries = LostQueries()
        self.is_closed = False
        self.on_admin_key: Callable[[], None] | None = None
        """Called once, before the first operation on a key that begins with `@/`."""

        self._warnings = DeferredWarnings(report)
        port.face = dispatcher.add_local(self.inbox)

    # What the node calls.

    def pop_touched(self) -> list[Sink]:
        """Sinks whose `after_unlock` must be called once the lock is released."""
        touched = self.port.touched
        if touched:
            self.port.touched = []
        return touched

    def next_deadline(self) -> float | None:
        if self.is_closed:
            return None
        return 0.0 if self.lost else self.queries.next_deadline()

    def stats(self) -> dict[str, int]:
        """Messages that did not reach the user, by cause."""
        return dict.fromkeys(_COUNTED, 0) | self.port.counters

    def handle_timeout(self, now: float) -> None:
        self.port.now = now
        self.queries.handle_timeout(now)
        self.undeclare_lost(now)

    def close(self) -> None:
        """End everything; nothing is undeclared, because the node removes the face."""
        if self.is_closed:
            return
        self.is_closed = True
        for queryable in self.queryables.live.values():
            self._report(self._lost_queries.summarize(queryable.eid, queryable.key))
        self.queries.close()
        self.subscribers.close()
        self.queryables.close()
        self.liveliness.close()
        self.matching.close()
        self.lost.clear()

    def leave_to_parent(self, text: str) -> None:
        """End the session in a forked child, which has no other thread: readers get an error."""
        self.subscribers.version += 1  # voids the shortcuts of publishers
        self.close()
        for sink in self.pop_touched():
            sink.leave_to_parent(text)

    # What the API calls.

    def enter(self, now: float) -> None:
        """Called before each operation; raises after close."""
        if self.is_closed:
            raise LocalError("session closed")
        self.port.now = now
        if self.lost:
            self.undeclare_lost(now)

    def _start_admin_keys(self, key: str) -> None:
        """Start the admin keys of the session when one of them is first used."""
        begin = self.on_admin_key
        if begin is not None and key.startswith("@/"):
            self.on_admin_key = None
            begin()

    def put(
        self, publication: Publication, body: Put | Del, stamps: TimestampStack | None, now: float
    ) -> None:
        self.enter(now)
        self.publications.push(publication, body, stamps, now)

    def bulk_put(
        self, qos: QoS, encoding: Encoding | None, clock: ZenohId, now: float
    ) -> BulkPut | None:
        """A `BulkPut` for values on many keys; None where each must be routed."""
        self.enter(now)
        outlet = self.publications.sole_outlet()
        return None if outlet is None else BulkPut(outlet, qos, encoding, clock)

    def declare_subscriber(
        self, key: str, sink: Sink, origin: Locality, now: float
    ) -> Subscription:
        self.enter(now)
        self._start_admin_keys(key)
        self.port.adopt(sink)
        subscription = self.subscribers.declare(key, sink, origin, now)
        self.matching.changed(SUBSCRIBERS, key)
        return subscription

    def declare_queryable(
        self, key: str, sink: Sink, complete: bool, origin: Locality, now: float
    ) -> QueryableEntity:
        self.enter(now)
        self.port.adopt(sink)
        queryable = self.queryables.declare(key, sink, complete, origin, now)
        self.matching.changed(QUERYABLES, key)
        return queryable

    def declare_publisher(self, key: str, destination: Locality, now: float) -> MatchingSource:
        self.enter(now)
        return self.matching.declare(SUBSCRIBERS, key, destination, False, now)

    def declare_querier(
        self, key: str, destination: Locality, all_complete: bool, now: float
    ) -> MatchingSource:
        self.enter(now)
        self._start_admin_keys(key)
        return self.matching.declare(QUERYABLES, key, destination, all_complete, now)

    def declare_matching_listener(
        self, source: MatchingSource, sink: Sink, now: float
    ) -> MatchingEntity:
        self.enter(now)
        self.port.adopt(sink)
        return self.matching.listen(source, sink)

    def declare_token(self, key: str, now: float) -> Token:
        self.enter(now)
        return self.liveliness.declare_token(key, now)

    def declare_liveliness_subscriber(
        self, key: str, sink: Sink, history: bool, now: float
    ) -> Watcher:
        self.enter(now)
        self.port.adopt(sink)
        return self.liveliness.declare_subscriber(key, sink, history, now)

    def get(self, key: str, parameters: str, spec: QuerySpec, sink: Sink, now: float) -> OpenQuery:
        self.enter(now)
        self._start_admin_keys(key)
        self.port.adopt(sink)
        return self.queries.send(key, parameters, spec, sink, now)

    def liveliness_get(self, key: str, sink: Sink, timeout_ms: int, now: float) -> OpenQuery:
        self.enter(now)
        self.port.adopt(sink)
        return self.liveliness.get(key, sink, timeout_ms, now)

    def reply(
        self,
        incoming: IncomingQuery,
        eid: int,
        key: str,
        body: Put | Del,
        express: bool | None,
        now: float,
    ) -> None:
        self.enter(now)
        self.queryables.reply(incoming, eid, key, body, express, now)

    def reply_error(self, incoming: IncomingQuery, eid: int, body: Err, now: float) -> None:
        self.enter(now)
        self.queryables.reply_error(incoming, eid, body, now)

    def drop_query(self, incoming: IncomingQuery, now: float) -> None:
        if not self.is_closed:
            self.port.now = now
            self.queryables.drop(incoming, now)

    def undeclare(self, entity: Entity, now: float) -> None:
        """Undeclare an entity; after close that is done already."""
        if self.is_closed or not entity.is_live:
            return
        self.port.now = now
        if isinstance(entity, Subscription):
            self.subscribers.undeclare(entity, now)
            self.matching.changed(SUBSCRIBERS, entity.key)
        elif isinstance(entity, QueryableEntity):
            self.queryables.undeclare(entity, now)
            self.matching.changed(QUERYABLES, entity.key)
            self._report(self._lost_queries.summarize(entity.eid, entity.key))
        elif isinstance(entity, MatchingSource):
            self.matching.undeclare(entity, now)
            if entity.kind == QUERYABLES:
                self.queries.abandon_owned_by(entity.eid)
        elif isinstance(entity, MatchingEntity):
            self.matching.remove_listener(entity)
        elif isinstance(entity, Token):
            self.liveliness.undeclare_token(entity, now)
        else:
            self.liveliness.undeclare_subscriber(entity, now)

    def undeclare_lost(self, now: float) -> None:
        """Undeclare and finish what the garbage collector found."""
        while self.lost:
            found = self.lost.popleft()
            if isinstance(found, LostQuery):
                self.port.count("leaked_queries")
                is_live = found.eid in self.queryables.live
                self._report(self._lost_queries.add(found.query.key, found.eid, is_live))
                self.queryables.drop(found.query, now)
            else:
                self.undeclare(found, now)

    def _report(self, text: str | None) -> None:
        if text is not None:
            self.port.to_application(self._warnings, text)
