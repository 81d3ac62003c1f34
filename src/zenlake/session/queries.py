"""Queries out: `get` and what comes back (behaviour reference §2.5)."""

from __future__ import annotations

import heapq

from zenlake.errors import LocalError
from zenlake.keyexpr.matching import intersects
from zenlake.semantics.consolidation import auto_mode
from zenlake.semantics.query_parameters import ANY_KEY, accepts_any_key
from zenlake.session.incoming_query import IncomingQuery
from zenlake.session.locality import Locality
from zenlake.session.open_query import OpenQuery
from zenlake.session.port import Port
from zenlake.session.publications import wire_qos
from zenlake.session.queryables import Queryables
from zenlake.session.sink import Sink
from zenlake.wire import (
    ConsolidationMode,
    QoS,
    Query,
    QueryBody,
    QueryTarget,
    Request,
    Response,
    SourceInfo,
    TimestampStack,
    WireExpr,
)


class QuerySpec:
    """The options of a `get` besides its key and parameters."""

    __slots__ = (
        "accepts_any_key",
        "attachment",
        "body",
        "budget",
        "consolidation",
        "destination",
        "owner_eid",
        "qos",
        "source_info",
        "stamps",
        "target",
        "timeout_ms",
    )

    def __init__(
        self,
        qos: QoS,
        timeout_ms: int,
        *,
        target: QueryTarget = QueryTarget.BEST_MATCHING,
        consolidation: ConsolidationMode = ConsolidationMode.AUTO,
        destination: Locality = Locality.ANY,
        accepts_any_key: bool = False,
        body: QueryBody | None = None,
        attachment: bytes | None = None,
        source_info: SourceInfo | None = None,
        stamps: TimestampStack | None = None,
        budget: int | None = None,
        owner_eid: int = 0,
    ) -> None:
        self.qos = qos
        self.timeout_ms = timeout_ms
        self.target = target
        self.consolidation = consolidation
        self.destination = destination
        self.accepts_any_key = accepts_any_key
        self.body = body
        self.attachment = attachment
        self.source_info = source_info
        self.stamps = stamps
        self.budget = budget
        self.owner_eid = owner_eid


class Queries:
    """All open queries of the session, by request id and by deadline."""

    __slots__ = ("_deadlines", "_last_id", "_port", "_queryables", "live")

    def __init__(self, port: Port, queryables: Queryables) -> None:
        self._port = port
        self._queryables = queryables
        self._last_id = 0
        self.live: dict[int, OpenQuery] = {}
        # Entries of ended queries stay until their deadline, or until they are the majority.
        self._deadlines: list[tuple[float, int]] = []

    def send(self, key: str, parameters: str, spec: QuerySpec, sink: Sink, now: float) -> OpenQuery:
        """Send a query; it may have ended before this returns."""
        mode = spec.consolidation
        if mode == ConsolidationMode.AUTO:
            mode = auto_mode(parameters)
        query = self.open(
            key, sink, mode, now + spec.timeout_ms / 1000, spec.budget, spec.owner_eid
        )
        query.accepts_any_key = spec.accepts_any_key or accepts_any_key(parameters)
        destination = spec.destination
        query.network_open = destination != Locality.SESSION_LOCAL
        query.local_open = destination != Locality.REMOTE
        request = self._request(query, parameters, mode, spec)
        if query.network_open:
            self._send_request(query, request, now)
        if query.local_open and query.is_open:
            incoming = IncomingQuery(
                query.id, key, request.body, request.qos, request.stamps, query
            )
            self._queryables.offer(incoming, spec.target, Locality.REMOTE, now)
        return query

    def _send_request(self, query: OpenQuery, request: Request, now: float) -> None:
        port = self._port
        port.clear_refusal()
        port.to_network(request, now)
        try:
            port.raise_refusal()
        except LocalError:
            query.abandon()
            raise

    def open(
        self,
        key: str,
        sink: Sink,
        mode: ConsolidationMode,
        deadline: float,
        budget: int | None,
        owner_eid: int,
    ) -> OpenQuery:
        """Open a query; nothing is sent yet."""
        self._last_id += 1
        left = -1 if budget is None else budget
        query = OpenQuery(
            self._port, self, self._last_id, key, sink, mode, deadline, left, owner_eid
        )
        self.live[query.id] = query
        heapq.heappush(self._deadlines, (deadline, query.id))
        return query

    def receive(self, key: str, response: Response) -> None:
        """Handle a RESPONSE from the network; without an open query it is counted and dropped."""
        query = self.live.get(response.request_id)
        if query is None or not query.network_open:
            known = 0 < response.request_id <= self._last_id
            self._port.count("late_replies" if known else "stray_replies")
            return
        # An error has no key when a node on the way made it (behaviour reference §4.5).
        if key:
            own = self._port.namespace.own(key)
            if own is None or not (query.accepts_any_key or intersects(query.key, own)):
                self._port.count("mismatched_replies")
                return
            key = own
        query.receive(key, response)

    def finish(self, request_id: int) -> None:
        """Handle a RESPONSE_FINAL from the network."""
        query = self.live.get(request_id)
        if query is not None and query.network_open:
            query.finish_network()
        else:
            known = 0 < request_id <= self._last_id
            self._port.count("repeated_finals" if known else "stray_finals")

    def forget(self, query: OpenQuery) -> None:
        """Remove a query that has ended."""
        del self.live[query.id]
        if len(self._deadlines) > 2 * len(self.live) + 64:
            self._deadlines = [entry for entry in self._deadlines if entry[1] in self.live]
            heapq.heapify(self._deadlines)

    def abandon_owned_by(self, owner_eid: int) -> None:
        """End the queries of an undeclared querier, without replies or errors."""
        for query in [one for one in self.live.values() if one.owner_eid == owner_eid]:
            query.abandon()

    def next_deadline(self) -> float | None:
        deadlines = self._deadlines
        while deadlines and deadlines[0][1] not in self.live:
            heapq.heappop(deadlines)
        return deadlines[0][0] if deadlines else None

    def handle_timeout(self, now: float) -> None:
        deadlines = self._deadlines
        while deadlines and deadlines[0][0] <= now:
            query = self.live.get(heapq.heappop(deadlines)[1])
            if query is not None:
                query.time_out()
                # `forget` may have made a new list.
                deadlines = self._deadlines

    def close(self) -> None:
        for query in list(self.live.values()):
            query.abandon()

    def _request(
        self, query: OpenQuery, parameters: str, mode: ConsolidationMode, spec: QuerySpec
    ) -> Request:
        if spec.accepts_any_key and not accepts_any_key(parameters):
            parameters = f"{parameters};{ANY_KEY}" if parameters else ANY_KEY
        body = Query(mode, parameters or None, spec.source_info, None, spec.body, spec.attachment)
        target = spec.target
        stamps = spec.stamps
        return Request(
            query.id,
            WireExpr(0, self._port.namespace.full(query.key)),
            body,
            wire_qos(spec.qos),
            None,
            None if target == QueryTarget.BEST_MATCHING else target,
            spec.budget,
            spec.timeout_ms,
            None,
            None if stamps is None else self._port.stamp_sent(stamps),
        )
