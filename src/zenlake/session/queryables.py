"""Queries in: which of the session's queryables get them, and their replies.

A session hands a query to all its matching queryables; only ALL_COMPLETE asks for complete
ones (behaviour reference §2.6).
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import LocalError
from zenlake.keyexpr.matching import includes, intersects
from zenlake.keyexpr.tree import KeyTree
from zenlake.session.incoming_query import IncomingQuery
from zenlake.session.locality import Locality
from zenlake.session.port import Port
from zenlake.session.sink import Sink
from zenlake.wire import (
    DeclareQueryable,
    Del,
    Err,
    Put,
    QoS,
    QueryableInfo,
    QueryTarget,
    Reply,
    Request,
    ResponderId,
    Response,
    ResponseFinal,
    UndeclareQueryable,
    WireExpr,
)
from zenlake.wire.defaults import DEFAULT_QOS_BYTE
from zenlake.wire.values.qos import QOS_BYTES

_EXPRESS: Final = 0x10


class QueryableEntity:
    """One queryable: its key, completeness, accepted origin, and sink."""

    __slots__ = ("complete", "eid", "is_live", "key", "origin", "sink")

    def __init__(self, eid: int, key: str, sink: Sink, complete: bool, origin: Locality) -> None:
        self.eid = eid
        self.key = key
        self.sink = sink
        self.complete = complete
        self.origin = origin
        self.is_live = True

    def serves(self, key: str, target: QueryTarget | None) -> bool:
        if target != QueryTarget.ALL_COMPLETE:
            return True
        return self.complete and includes(self.key, key)


class SharedQueryableDeclaration:
    """The one declaration to the network for all queryables on one key."""

    __slots__ = ("complete", "id")

    def __init__(self, id: int, complete: bool) -> None:
        self.id = id
        self.complete = complete


class Queryables:
    """All queryables of the session and the queries they have not finished."""

    __slots__ = ("_by_key", "_declared", "_port", "live", "unanswered")

    def __init__(self, port: Port) -> None:
        self._port = port
        self._by_key: KeyTree[list[QueryableEntity]] = KeyTree()
        self._declared: dict[str, SharedQueryableDeclaration] = {}
        self.live: dict[int, QueryableEntity] = {}
        # Queries with a Query object that is not dropped.
        self.unanswered = 0

    def declare(
        self, key: str, sink: Sink, complete: bool, origin: Locality, now: float, eid: int = 0
    ) -> QueryableEntity:
        """Declare a queryable; `eid` is the next one unless it is passed."""
        queryable = QueryableEntity(eid or self._port.next_eid(), key, sink, complete, origin)
        twins = self._by_key.get(key)
        if twins is None:
            self._by_key.insert(key, [queryable])
        else:
            twins.append(queryable)
        self.live[queryable.eid] = queryable
        self._update_declaration(key, now)
        return queryable

    def undeclare(self, queryable: QueryableEntity, now: float) -> None:
        del self.live[queryable.eid]
        queryable.is_live = False
        twins = self._by_key.get(queryable.key)
        assert twins is not None
        twins.remove(queryable)
        if not twins:
            self._by_key.remove(queryable.key)
        self._update_declaration(queryable.key, now)
        self._port.close(queryable.sink)

    def receive(self, key: str, request: Request, now: float) -> None:
        """Handle a REQUEST from the network."""
        incoming = IncomingQuery(
            request.request_id, key, request.body, request.qos, request.stamps, None
        )
        self.offer(incoming, request.target, Locality.SESSION_LOCAL, now)

    def offer(
        self, incoming: IncomingQuery, target: QueryTarget | None, refused: Locality, now: float
    ) -> None:
        """Hand a query to all matching queryables; it is finished at once if there are none."""
        key = incoming.key
        found = [
            queryable
            for twins in self._by_key.intersecting(key)
            for queryable in twins
            if queryable.origin != refused and queryable.serves(key, target)
        ]
        if incoming.stamps is not None:
            incoming.stamps = self._port.stamp_received(incoming.stamps)
        incoming.holders = len(found)
        self.unanswered += 1
        if not found:
            self._finish(incoming, now)
        for queryable in found:
            item = self._port.factory.query(incoming, queryable.eid)
            self._port.to_application(queryable.sink, item)

    def reply(
        self,
        incoming: IncomingQuery,
        eid: int,
        key: str,
        body: Put | Del,
        express: bool | None,
        now: float,
    ) -> None:
        if not incoming.accepts_any_key and not intersects(incoming.key, key):
            raise LocalError(
                f"Attempted to reply on `{key}`, which does not intersect with query "
                f"`{incoming.key}`, despite query only allowing replies on matching key expressions"
            )
        qos = incoming.qos if express is None else _with_express(incoming.qos, express)
        self._respond(incoming, eid, key, Reply(body), qos, now)

    def reply_error(self, incoming: IncomingQuery, eid: int, body: Err, now: float) -> None:
        self._respond(incoming, eid, incoming.key, body, incoming.qos, now)

    def drop(self, incoming: IncomingQuery, now: float) -> None:
        """Note that a Query object is dropped; the caller drops each only once."""
        incoming.holders -= 1
        if incoming.holders == 0:
            self._finish(incoming, now)

    def has_local(self, key: str, all_complete: bool) -> bool:
        """Whether a query of this session on `key` would reach its own queryables."""
        target = QueryTarget.ALL_COMPLETE if all_complete else None
        return any(
            twin.origin != Locality.REMOTE and twin.serves(key, target)
            for twins in self._by_key.intersecting(key)
            for twin in twins
        )

    def close(self) -> None:
        for queryable in self.live.values():
            queryable.is_live = False
            self._port.close(queryable.sink)
        self.live.clear()
        self._by_key = KeyTree()

    def _respond(
        self,
        incoming: IncomingQuery,
        eid: int,
        key: str,
        body: Reply | Err,
        qos: QoS | None,
        now: float,
    ) -> None:
        port = self._port
        stamps = incoming.stamps
        if stamps is not None:
            stamps = port.stamp_sent(stamps)  # a reply continues the records of its query
        response = Response(
            incoming.request_id,
            WireExpr(0, port.namespace.full(key)),
            body,
            qos,
            None,
            ResponderId(port.zid, eid),
            stamps,
        )
        if incoming.origin is None:
            port.clear_refusal()
            port.to_network(response, now)
            port.raise_refusal()
        elif incoming.origin.is_open:
            incoming.origin.receive(key, response)

    def _finish(self, incoming: IncomingQuery, now: float) -> None:
        self.unanswered -= 1
        if incoming.origin is None:
            self._port.to_network(ResponseFinal(incoming.request_id, incoming.qos), now)
        else:
            incoming.origin.finish_local()

    def _update_declaration(self, key: str, now: float) -> None:
        """Declare, declare again with other info, or undeclare, by the queryables on a key."""
        twins = self._by_key.get(key) or []
        shown = [twin for twin in twins if twin.origin != Locality.SESSION_LOCAL]
        declared = self._declared.get(key)
        if not shown:
            if declared is not None:
                del self._declared[key]
                self._port.declare(UndeclareQueryable(declared.id), now)
            return
        complete = any(twin.complete for twin in shown)
        if declared is None:
            declared = self._declared[key] = SharedQueryableDeclaration(
                self._port.next_id(), complete
            )
        elif declared.complete == complete:
            return
        declared.complete = complete
        info = QueryableInfo(True) if complete else None
        whole = WireExpr(0, self._port.namespace.full(key))
        self._port.declare(DeclareQueryable(declared.id, whole, info), now)


def _with_express(qos: QoS | None, express: bool) -> QoS | None:
    byte = DEFAULT_QOS_BYTE if qos is None else qos.byte
    byte = byte | _EXPRESS if express else byte & ~_EXPRESS
    return None if byte == DEFAULT_QOS_BYTE else QOS_BYTES[byte]
