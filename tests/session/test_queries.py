"""Queries: timers, finals, budgets, keys, targets (behaviour reference §2.5, §2.6)."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.chance import IS_FULL, scaled
from tests.session.network import (
    ANY,
    ListSink,
    Network,
    Node,
    get,
    pair,
    query_spec,
    serve,
    two_nodes,
)
from zenlake.errors import LocalError
from zenlake.limits import HELD_REPLIES_MAX, HELD_REPLY_BYTES_MAX
from zenlake.session import Locality, SessionCore, SessionSettings
from zenlake.session.incoming_query import IncomingQuery
from zenlake.testing.simulation.items import Error, Ok
from zenlake.wire import (
    ConsolidationMode,
    Del,
    Encoding,
    Err,
    Put,
    QoS,
    QueryBody,
    QueryTarget,
    Reply,
    Request,
    ResponderId,
    Response,
    ResponseFinal,
    WhatAmI,
    WireExpr,
)

NONE = ConsolidationMode.NONE
ROLES = [WhatAmI.PEER, WhatAmI.CLIENT]


def answer(core: SessionCore, incoming: IncomingQuery, key: str, payload: bytes = b"") -> None:
    core.reply(incoming, 7, key, Put(payload), None, 100.0)


@pytest.mark.parametrize("role", ROLES)
def test_query_and_reply_carry_everything(role: WhatAmI) -> None:
    network, a, b = pair(WhatAmI.PEER, role)
    queryable = ListSink()
    entity = b.declare_queryable("demo/**", queryable, False, ANY, network.now)
    network.pump()
    body = QueryBody(Encoding(4), b"payload")
    answers = get(a, "demo/*", query_spec(body=body, attachment=b"at"), "x=1")
    network.pump()
    (query,) = queryable.queries
    incoming = query.incoming
    assert (incoming.key, incoming.parameters, query.eid) == ("demo/*", "x=1", entity.eid)
    assert incoming.body.body == body
    assert incoming.body.attachment == b"at"
    assert incoming.qos == QoS(13)
    b.reply(incoming, query.eid, "demo/a", Put(b"1"), None, network.now)
    b.reply(incoming, query.eid, "demo/b", Del(), True, network.now)
    b.reply_error(incoming, query.eid, Err(b"no"), network.now)
    network.pump()
    assert not answers.is_closed
    (error,) = answers.pop_items()  # errors are not consolidated: they come at once
    assert isinstance(error, Error)
    assert error.payload == b"no"
    b.drop_query(incoming, network.now)
    network.pump()
    assert answers.is_closed
    assert answers.samples == [("demo/a", b"1"), ("demo/b", None)]
    first, second = answers.items
    assert isinstance(first, Ok)
    assert isinstance(second, Ok)
    assert first.responder is not None
    assert (first.responder.zid, first.responder.eid) == (b.zid, entity.eid)
    assert first.qos == QoS(13)


def test_request_carries_what_was_asked() -> None:
    network, one, two, (there, _) = two_nodes()
    serve(two.core, "k", complete=True)
    network.pump()
    asking = query_spec(1_234, target=QueryTarget.ALL_COMPLETE, accepts_any_key=True, budget=3)
    one.core.get("k", "a=1", asking, ListSink(), network.now)
    (request,) = [sent for sent in there.log if isinstance(sent, Request)]
    assert request.target == QueryTarget.ALL_COMPLETE
    assert (request.timeout_ms, request.budget) == (1_234, 3)
    assert request.body.consolidation == ConsolidationMode.LATEST
    assert request.body.parameters == "a=1;_anyke"


def test_query_without_queryables_ends_at_once() -> None:
    network, a, _ = pair()
    answers = get(a, "k", query_spec(0))
    network.pump()
    assert answers.is_closed
    assert answers.items == []


@pytest.mark.parametrize("timeout_ms", [1, 20, 1_000, 10_000, 60_000])
def test_timeout_ends_a_query_on_time(timeout_ms: int) -> None:
    """Q05 by a simulated clock: what is held, then one error, then the end; late ones count."""
    network, a, b = pair()
    queryable = serve(b, "k/**")
    network.pump()
    answers = get(a, "k/**", query_spec(timeout_ms))
    network.pump()
    incoming = queryable.queries[0].incoming
    answer(b, incoming, "k/1", b"kept")
    network.pump()
    deadline = a.queries.next_deadline()
    assert deadline is not None
    assert deadline == pytest.approx(network.now + timeout_ms / 1000)
    a.handle_timeout(deadline - timeout_ms / 1e5)
    assert not answers.is_closed
    a.handle_timeout(deadline)
    assert answers.is_closed
    kept, error = answers.items
    assert isinstance(kept, Ok)
    assert error == Error(b"Timeout", Encoding(1), None, None)
    answer(b, incoming, "k/2")
    network.pump()
    assert a.port.counters == {"late_replies": 1}


def test_a_timeout_is_reported_once() -> None:
    """Nodes on the path have the same timeout; the user gets one error for all of them."""
    network, a, b = pair()
    answers = ListSink()
    serve(b, "k")
    network.pump()
    query = a.get("k", "", query_spec(1_000), answers, network.now)
    network.pump()
    deadline = a.queries.next_deadline()
    assert deadline is not None
    for _ in range(2):  # a queryable may send the same error repeatedly
        a.inbox.push(Response(query.id, WireExpr(0, "k"), Err(b"Timeout")), "k", True)
        a.inbox.push(Response(query.id, WireExpr(0), Err(b"other")), "", True)
    for hop in (b.zid, a.zid):
        on_the_way = Response(query.id, WireExpr(0), Err(b"Timeout"), responder=ResponderId(hop, 0))
        a.inbox.push(on_the_way, "", True)
    a.handle_timeout(deadline)
    assert answers.is_closed
    errors = [error.payload for error in answers.items if isinstance(error, Error)]
    assert errors == [b"Timeout", b"other", b"Timeout", b"other", b"Timeout"]
    assert isinstance(last := answers.items[-1], Error)
    assert last.responder == ResponderId(b.zid, 0)


def test_query_ends_when_the_queryables_node_disconnects() -> None:
    network, one, two, lines = two_nodes()
    queryable = serve(two.core, "k")
    network.pump()
    answers = get(one.core, "k")
    network.pump()
    answer(two.core, queryable.queries[0].incoming, "k", b"x")
    network.cut(lines)
    assert answers.samples == [("k", b"x")]
    assert answers.is_closed


def test_many_open_queries_and_the_replier_dies() -> None:
    """The queries end with the replier (Q06)."""
    network, one, two, lines = two_nodes()
    serve(two.core, "k")
    network.pump()
    count = scaled(2_000, 10_000)
    sinks = [ListSink() for _ in range(count)]
    for sink in sinks:
        one.core.get("k", "", query_spec(), sink, network.now)
    network.pump()
    assert len(one.core.queries.live) == count
    network.cut(lines)
    assert all(sink.is_closed and not sink.items for sink in sinks)
    assert one.core.queries.live == {}
    assert one.core.queries.next_deadline() is None


def test_final_waits_for_all_query_objects() -> None:
    network, a, b = pair()
    first, second = serve(b, "k"), serve(b, "k")
    network.pump()
    answers = get(a, "k", query_spec(consolidation=NONE))
    network.pump()
    incoming = first.queries[0].incoming
    assert second.queries[0].incoming is incoming
    b.drop_query(incoming, network.now)
    answer(b, incoming, "k")
    network.pump()
    assert len(answers.items) == 1
    assert not answers.is_closed
    b.drop_query(incoming, network.now)
    network.pump()
    assert answers.is_closed


def test_own_queryable_and_network_both_answer() -> None:
    network, a, b = pair()
    near, far = serve(a, "k"), serve(b, "k")
    network.pump()
    answers = get(a, "k", query_spec(consolidation=NONE))
    network.pump()
    for core, sink in ((b, far), (a, near)):
        answer(core, sink.queries[0].incoming, "k")
        assert not answers.is_closed
        core.drop_query(sink.queries[0].incoming, network.now)
        network.pump()
    assert answers.is_closed
    assert len(answers.items) == 2


@pytest.mark.parametrize("origin", list(Locality))
@pytest.mark.parametrize("destination", list(Locality))
def test_locality_decides_who_gets_a_query(origin: Locality, destination: Locality) -> None:
    network, a, b = pair()
    near, far = serve(a, "k", origin=origin), serve(b, "k", origin=origin)
    network.pump()
    answers = get(a, "k", query_spec(destination=destination))
    network.pump()
    heard_here = origin != Locality.REMOTE and destination != Locality.REMOTE
    heard_there = Locality.SESSION_LOCAL not in (origin, destination)
    assert (len(near.items), len(far.items)) == (heard_here, heard_there)
    assert answers.is_closed == (not heard_here and not heard_there)


def test_only_all_complete_filters_within_a_session() -> None:
    network, a, b = pair()
    complete, partial = serve(b, "k/**", complete=True), serve(b, "k/*")
    network.pump()
    get(a, "k/1")
    get(a, "k/1", query_spec(target=QueryTarget.ALL_COMPLETE))
    network.pump()
    assert (len(complete.items), len(partial.items)) == (2, 1)


def test_reply_key_must_match() -> None:
    network, a, b = pair()
    queryable = serve(b, "**")
    network.pump()
    answers = get(a, "k", query_spec(consolidation=NONE))
    a.get("k", "", query_spec(consolidation=NONE, accepts_any_key=True), answers, network.now)
    network.pump()
    strict, free = (one.incoming for one in queryable.queries)
    with pytest.raises(LocalError, match="Attempted to reply on `z`, which does not intersect"):
        answer(b, strict, "z")
    answer(b, free, "z", b"any")
    answer(b, strict, "*", b"wild")
    network.pump()
    assert answers.samples == [("z", b"any"), ("*", b"wild")]


def test_receiver_checks_keys_again() -> None:
    node = Network().add()
    core, sink = node.core, ListSink()
    query = core.queries.open("k", sink, NONE, 200.0, None, 0)
    query.network_open = True
    core.inbox.push(Response(query.id, WireExpr(0), Reply(Put(b""))), "other", True)
    assert sink.items == []
    assert core.port.counters == {"mismatched_replies": 1}


def test_unexpected_messages_are_counted() -> None:
    """Q04: after the final, two finals, final only, wrong id, id of a finished query."""
    node = Network().add()
    core, sink = node.core, ListSink()
    response = Response(1, WireExpr(0), Reply(Put(b"")))
    core.inbox.push(response, "k", True)
    core.inbox.push(ResponseFinal(1), "", True)
    assert core.port.counters == {"stray_replies": 1, "stray_finals": 1}
    query = core.queries.open("k", sink, NONE, 200.0, None, 0)
    query.network_open = True
    query.local_open = True
    core.inbox.push(ResponseFinal(1), "", True)
    core.inbox.push(ResponseFinal(1), "", True)
    assert not sink.is_closed  # two finals of the network do not stand for one of each side
    core.inbox.push(response, "k", True)
    query.finish_local()
    assert sink.is_closed
    assert sink.items == []
    core.inbox.push(response, "k", True)
    core.inbox.push(ResponseFinal(1), "", True)
    assert core.port.counters == {
        "stray_replies": 1,
        "stray_finals": 1,
        "repeated_finals": 2,
        "late_replies": 2,
    }


def flood(
    node: Node, mode: ConsolidationMode, budget: int | None, keys: int, size: int
) -> ListSink:
    core, sink = node.core, ListSink()
    query = core.queries.open("**", sink, mode, 200.0, budget, 0)
    query.network_open = True
    for number in range(keys):
        body = Put(bytes(size))
        core.inbox.push(Response(query.id, WireExpr(0), Reply(body)), f"k/{number}", True)
    core.inbox.push(ResponseFinal(query.id), "", True)
    assert sink.is_closed
    return sink


@pytest.mark.parametrize("mode", [NONE, ConsolidationMode.MONOTONIC, ConsolidationMode.LATEST])
def test_budget_ends_the_query(mode: ConsolidationMode) -> None:
    """No more replies than the budget arrive (Q08)."""
    node = Network().add()
    count = scaled(20_000, 1_000_000)
    sink = flood(node, mode, 10, count, 10)
    assert len(sink.items) == 10
    assert node.core.port.counters["late_replies"] == count - 10


def test_errors_count_against_the_budget() -> None:
    core, sink = Network().add().core, ListSink()
    query = core.queries.open("**", sink, ConsolidationMode.LATEST, 200.0, 2, 0)
    query.network_open = True
    core.inbox.push(Response(query.id, WireExpr(0), Reply(Put(b"1"))), "k", True)
    core.inbox.push(Response(query.id, WireExpr(0), Err(b"no")), "k", True)
    assert sink.is_closed
    assert [type(item) for item in sink.items] == [Error, Ok]


def test_held_replies_are_bounded() -> None:
    node = Network().add()
    if IS_FULL:  # the queryable is slow
        tracemalloc.start()
    sink = flood(node, ConsolidationMode.LATEST, None, HELD_REPLIES_MAX + 10, 0)
    assert tracemalloc.get_traced_memory()[1] < HELD_REPLY_BYTES_MAX
    tracemalloc.stop()
    assert len(sink.items) == HELD_REPLIES_MAX + 1
    error = sink.items[-1]
    assert isinstance(error, Error)
    assert error.payload == b"Too many replies: 10 dropped"
    assert node.core.stats()["refused_replies"] == 10


def test_held_bytes_are_bounded() -> None:
    size, limit = 1 << 20, 64 << 20
    node = Network().add(settings=SessionSettings(held_bytes_max=limit))
    sink = flood(node, ConsolidationMode.LATEST, None, 100, size)
    kept = [item for item in sink.items if isinstance(item, Ok)]
    assert 60 * size < len(kept) * size <= limit
    assert isinstance(sink.items[-1], Error)


def test_a_single_reply_is_held_whatever_its_size() -> None:
    node = Network().add(settings=SessionSettings(held_bytes_max=100))
    sink = flood(node, ConsolidationMode.LATEST, None, 1, 5_000)
    assert [type(item) for item in sink.items] == [Ok]
    sink = flood(node, ConsolidationMode.LATEST, None, 2, 5_000)
    assert [type(item) for item in sink.items] == [Ok, Error]


def test_cancellation_and_close_are_silent() -> None:
    network, a, b = pair()
    serve(b, "k")
    network.pump()
    cancelled = ListSink()
    query = a.get("k", "", query_spec(), cancelled, network.now)
    closed = get(a, "k")
    query.abandon()
    query.abandon()
    assert cancelled.is_closed
    a.close()
    assert closed.is_closed
    assert cancelled.items == closed.items == []
    network.pump()


def test_undeclared_querier_drops_its_queries() -> None:
    network, a, b = pair()
    serve(b, "k")
    network.pump()
    querier = a.declare_querier("k", ANY, False, network.now)
    own = get(a, "k", query_spec(owner_eid=querier.eid))
    other = get(a, "k")
    a.undeclare(querier, network.now)
    assert (own.is_closed, other.is_closed) == (True, False)


def test_deadlines_of_ended_queries_do_not_accumulate() -> None:
    core = Network().add().core
    for _ in range(5_000):
        get(core, "nobody")
    assert len(core.queries._deadlines) < 100
