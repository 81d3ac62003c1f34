"""`QueryForwarder`: forwards REQUESTs, and their RESPONSEs back (§4.5).

Every hop sends its requester exactly one RESPONSE_FINAL per REQUEST, whether the faces that the
query was sent to answer, stay silent beyond the timeout, or are lost.
"""

from __future__ import annotations

from typing import Final, TypeVar

from zenlake.routing.face import Face
from zenlake.routing.forwarding.origin import Origin
from zenlake.routing.forwarding.query_targets import QueryTargets, select
from zenlake.routing.forwarding.route import QueryRoute
from zenlake.routing.forwarding.routed_query import Branch, RoutedQuery
from zenlake.routing.memory import BRANCH_BYTES, REQUEST_BYTES
from zenlake.routing.region import BESIDE
from zenlake.routing.stamps import ROUTE, Stamper
from zenlake.routing.tables import Tables
from zenlake.routing.timers import TIMERS_PER_SLICE, Timers
from zenlake.routing.work import SEND_STEPS, Job
from zenlake.wire import Err, Request, ResponderId, Response, ResponseFinal, TimestampStack
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

T = TypeVar("T")

GRACE_S: Final = 0.05
"""The requester's own timer, of the same length and started before ours, must fire first. Deployed
nodes wake at whole milliseconds and this node does not: without the grace, our error often arrived
before the requester's own timeout, and its application got two."""


class QueryForwarder:
    __slots__ = ("_stamper", "_tables", "_targets", "timers")

    def __init__(self, tables: Tables, stamper: Stamper) -> None:
        self._tables = tables
        self._stamper = stamper
        self._targets = QueryTargets(tables)
        self.timers = Timers()

    def receive_request(self, source: Face, message: Request, reliable: bool, now: float) -> None:
        tables = self._tables
        counters = tables.counters
        if source.is_multicast:
            counters.unexpected_messages += 1
            return
        if message.request_id in source.queries:
            # The RESPONSE_FINAL of the open request will end both.
            counters.reused_request_ids += 1
            return
        query = RoutedQuery(source, message.request_id, message.qos, message.budget)
        queries_max = tables.settings.queries_max
        if len(source.queries) >= queries_max and not source.is_local:
            self._refuse(query, f"Too many open requests: {queries_max}")
            return
        key = tables.text_of(source, message.key)
        if key is None:
            _finish(query)
            return
        query.key = key
        timeout_ms = message.timeout_ms
        if timeout_ms is None:
            timeout_ms = tables.settings.query_timeout_ms
        deadline = now + timeout_ms / 1000 + GRACE_S
        origin = source.origin
        if source.position == BESIDE:
            router = tables.source_of(source, message.node_id)
            if router is None:
                _finish(query)
                return
            origin = router.origin
        route = origin.query_routes.get(key)  # only valid keys have a route
        if route is not None:
            self._send_to_targets(query, message, key, reliable, deadline, route)
        elif tables.is_valid(key):
            job = self._choose_and_ask(query, origin, message, key, reliable, deadline)
            tables.work.run_for(source, job)
        else:
            _finish(query)

    def _choose_and_ask(
        self,
        query: RoutedQuery,
        origin: Origin,
        message: Request,
        key: str,
        reliable: bool,
        deadline: float,
    ) -> Job:
        found: list[QueryRoute] = []
        yield from self._targets.find(origin, key, found)
        self._send_to_targets(query, message, key, reliable, deadline, found[0])

    def _send_to_targets(
        self,
        query: RoutedQuery,
        message: Request,
        key: str,
        reliable: bool,
        deadline: float,
        route: QueryRoute,
    ) -> None:
        """Send a query to the faces that its target selects."""
        source = query.face
        if source.is_gone:
            return
        faces = select(route, message.target, source)
        query.size = REQUEST_BYTES + BRANCH_BYTES * len(faces)
        if not faces:
            _finish(query)
            return
        if not source.account.charge(query.size):
            self._refuse(query, "Too much memory used by this session")
            return
        source.queries[query.request_id] = query
        work = self._tables.work
        for face in faces:
            branch = Branch(query, face, face.next_request_id(), deadline)
            face.branches[branch.request_id] = branch
            query.add(branch)
            self.timers.start(branch)
        for branch in query.branches():
            if branch.is_ended:  # a session in this process has answered at once
                continue
            face = branch.face
            copy = message.copy()
            copy.request_id = branch.request_id
            copy.key = face.shortest(key)
            copy.node_id = route.node_id if face.region is route.region else None
            copy.stamps = self._route_stamped(message.stamps)
            face.outlet.push(copy, key, reliable)
            work.steps -= SEND_STEPS

    def _refuse(self, query: RoutedQuery, why: str) -> None:
        self._tables.counters.refused_requests += 1
        self._send_error(query, why, self._tables.zid)
        _finish(query)

    def receive_response(self, face: Face, message: Response, reliable: bool) -> None:
        branch = face.branches.get(message.request_id)
        if branch is None:
            self._tables.counters.late_responses += 1
            return
        key = face.keys.resolve(message.key)
        if key is None:
            self._tables.counters.unknown_aliases += 1
            return
        query = branch.query
        # An error that a node made has no key. Most replies have the key of the query.
        if key and key != query.key and not self._tables.is_valid(key):
            return
        if query.face.is_gone:
            return
        response = message.copy()
        response.request_id = query.request_id
        response.key = WireExpr(0, key)
        response.qos = query.qos
        response.stamps = self._route_stamped(message.stamps)
        query.face.outlet.push(response, key, reliable)
        if query.budget:
            query.budget -= 1
            if query.budget == 0:
                self._end_early(query)

    def _end_early(self, query: RoutedQuery) -> None:
        """End a query whose budget is used up (the query page: "Routers SHOULD stop")."""
        for branch in query.branches():
            self._end(branch)

    def receive_final(self, face: Face, message: ResponseFinal) -> None:
        branch = face.branches.get(message.request_id)
        if branch is None:
            self._tables.counters.late_responses += 1
            return
        self._end(branch)

    def remove_face(self, face: Face) -> Job:
        """End the branches to a face; its own queries continue, and their responses are dropped."""
        work = self._tables.work
        face.queries.clear()
        for branch in list(face.branches.values()):
            self._end(branch)
            work.steps -= SEND_STEPS
            if work.steps <= 0:
                yield

    def close(self) -> None:
        """Break the cycles between open queries and their faces (routed_query.py)."""
        for timer in self.timers.close():
            assert isinstance(timer, Branch)
            timer.face.branches.clear()
            timer.query.face.queries.clear()
            timer.query.drop_branches()

    def handle_timeout(self, now: float) -> None:
        for timer in self.timers.pop_due(now, TIMERS_PER_SLICE):
            assert isinstance(timer, Branch)
            self._tables.counters.timed_out_requests += 1
            self._send_error(timer.query, "Timeout", timer.face.zid)
            self._end(timer)

    def _send_error(self, query: RoutedQuery, text: str, responder: ZenohId) -> None:
        """An error of this node: it has no key, unlike those of queryables."""
        if not query.face.is_gone:
            error = Response(
                query.request_id,
                WireExpr(0),
                Err(text.encode()),
                query.qos,
                responder=ResponderId(responder, 0),
            )
            query.face.send(error, "")

    def _route_stamped(self, stamps: TimestampStack | None) -> TimestampStack | None:
        return None if stamps is None else self._stamper.stamp(stamps, ROUTE)

    def _end(self, branch: Branch) -> None:
        """End one branch; the last one ends the query."""
        if _pop(branch.face.branches, branch.request_id) is None:
            return
        self.timers.cancel(branch)
        query = branch.query
        if query.note_ended():
            _pop(query.face.queries, query.request_id)
            query.face.account.release(query.size)
            _finish(query)


def _pop(open_ones: dict[int, T], id: int) -> T | None:
    """Pop an entry; a dictionary that held many keeps its size until it is cleared."""
    taken = open_ones.pop(id, None)
    if not open_ones:
        open_ones.clear()
    return taken


def _finish(query: RoutedQuery) -> None:
    if not query.face.is_gone:
        query.face.send(ResponseFinal(query.request_id, query.qos), "")
