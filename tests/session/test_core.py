"""The session as a whole: ids, close, lost objects, churn, stamps."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.chance import scaled
from tests.session.network import (
    ANY,
    ListSink,
    Network,
    get,
    pair,
    put,
    query_spec,
    serve,
    subscribe,
    two_nodes,
)
from zenlake.errors import LocalError
from zenlake.routing.stamps import RECEIVE, ROUTE, SEND
from zenlake.session.core import Entity
from zenlake.session.lost_queries import LostQuery
from zenlake.testing.simulation.items import Error, Ok, Sample
from zenlake.wire import ConsolidationMode, Err, Put, QoS, TimestampStack
from zenlake.wire.values.timestamp import read_timestamp


def test_entities_are_numbered_in_one_count_after_the_session() -> None:
    core = Network().add().core
    made: list[Entity] = [
        core.declare_subscriber("k", ListSink(), ANY, 0.0),
        core.declare_queryable("k", ListSink(), False, ANY, 0.0),
        core.declare_publisher("k", ANY, 0.0),
        core.declare_querier("k", ANY, False, 0.0),
        core.declare_token("k", 0.0),
        core.declare_liveliness_subscriber("k", ListSink(), False, 0.0),
    ]
    assert [entity.eid for entity in made] == [3, 4, 5, 6, 7, 8]


def test_close_ends_everything_and_refuses_the_rest() -> None:
    network, a, b = pair()
    sinks = [ListSink() for _ in range(5)]
    entity = a.declare_subscriber("k", sinks[0], ANY, network.now)
    a.declare_queryable("k", sinks[1], False, ANY, network.now)
    a.declare_liveliness_subscriber("k", sinks[2], True, network.now)
    source = a.declare_publisher("k", ANY, network.now)
    a.declare_matching_listener(source, sinks[3], network.now)
    serve(b, "q")
    network.pump()
    a.get("q", "", query_spec(), sinks[4], network.now)
    a.close()
    a.close()
    assert all(sink.is_closed for sink in sinks)
    for operation in (
        lambda: put(a, "k"),
        lambda: a.get("k", "", query_spec(), ListSink(), 0.0),
        lambda: a.declare_subscriber("k", ListSink(), ANY, 0.0),
        lambda: a.declare_token("k", 0.0),
    ):
        with pytest.raises(LocalError, match=r"^session closed$"):
            operation()
    a.undeclare(entity, network.now)
    a.undeclare(source, network.now)
    put(b, "k")
    network.pump()
    assert a.next_deadline() is None


def test_lost_objects_are_undeclared_by_the_timer() -> None:
    network, a, b = pair()
    near, far = ListSink(), ListSink()
    lost = a.declare_subscriber("k", near, ANY, network.now)
    publisher = b.declare_publisher("k", ANY, network.now)
    b.declare_matching_listener(publisher, far, network.now)
    network.pump()
    assert far.items == [True]
    a.lost.append(lost)
    network.wait(1.0)
    assert near.is_closed
    assert far.items == [True, False]


def test_lost_query_is_finished_with_a_warning() -> None:
    network, one, two, _ = two_nodes()
    queryable = serve(two.core, "k")
    network.pump()
    answers = get(one.core, "k")
    network.pump()
    (query,) = queryable.queries
    two.core.lost.append(LostQuery(query.incoming, query.eid))
    network.wait(1.0)
    assert answers.is_closed
    assert two.core.port.counters == {"leaked_queries": 1}
    (report,) = two.reports
    assert "a Query on `k` was lost without drop(); its final goes out now" in report


@pytest.mark.parametrize("is_closed", [False, True])
def test_many_lost_queries_of_a_queryable_are_two_reports(is_closed: bool) -> None:
    network, one, two, _ = two_nodes()
    sink = ListSink()
    queryable = two.core.declare_queryable("k/*", sink, False, ANY, network.now)
    network.pump()
    for number in range(200):
        get(one.core, f"k/{number}")
    network.pump()
    for query in sink.queries:
        two.core.lost.append(LostQuery(query.incoming, query.eid))
    network.wait(1.0)
    assert len(two.reports) == 1
    if is_closed:
        two.core.close()
    else:
        two.core.undeclare(queryable, network.now)
    network.wait(1.0)
    assert two.core.port.counters == {"leaked_queries": 200}
    assert two.reports[1:] == ["200 queries of the queryable on `k/*` were lost without drop()"]


def test_churn_leaves_nothing_behind() -> None:
    """Q10: entities of six kinds, 10,200 in full."""
    count = scaled(300, 1_600)
    network, a, _ = pair()

    def churn(count: int) -> None:
        for number in range(count):
            key = f"churn/{number}"
            made: list[Entity] = [
                a.declare_subscriber(key, ListSink(), ANY, network.now),
                a.declare_queryable(key, ListSink(), False, ANY, network.now),
                a.declare_publisher(key, ANY, network.now),
                a.declare_querier(key, ANY, False, network.now),
                a.declare_token(key, network.now),
                a.declare_liveliness_subscriber(key, ListSink(), True, network.now),
            ]
            for entity in made:
                a.undeclare(entity, network.now)
            a.pop_touched()
            network.pump()
            clear_logs(network)

    churn(100)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    churn(count)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(a.subscribers.live) == len(a.queryables.live) == len(a.matching.sources) == 0
    assert len(a.liveliness.watchers) == 0
    # Interests, ids, routes: nothing may grow with ended entities (aliases belong to routing).
    assert a.interests._by_id == {}
    assert (a.subscribers._declared, a.queryables._declared) == ({}, {})
    assert a.liveliness._declared == {}
    assert after - before < 3_750 * count


def clear_logs(network: Network) -> None:
    for node in network.nodes:
        for face in node.dispatcher.faces:
            log = getattr(face.outlet, "log", None)
            if log is not None:
                log.clear()


def test_stamps_are_recorded_where_asked_for() -> None:
    network, a, b = pair()
    sink = subscribe(b, "k")
    network.pump()
    publication = a.publications.prepare("k", QoS(5), True, ANY, None)
    for points in (SEND, RECEIVE, SEND | RECEIVE):
        a.put(publication, Put(b""), TimestampStack(points, ()), network.now)
    network.pump()
    stacks = [item.stamps for item in sink.items if isinstance(item, Sample)]
    flags = [[record.flags for record in stack.records] for stack in stacks if stack]
    assert flags == [[SEND], [RECEIVE], [SEND, RECEIVE]]
    stack = stacks[2]
    assert stack is not None
    times = [read_timestamp(one.time, 0, len(one.time))[0] for one in stack.records]
    assert [time.id for time in times] == [a.zid, b.zid]


def test_replies_and_errors_continue_the_records_of_their_query() -> None:
    network, a, b = pair()
    queryable = serve(b, "k")
    network.pump()
    stamps = TimestampStack(SEND | ROUTE | RECEIVE, ())
    asking = query_spec(consolidation=ConsolidationMode.NONE, stamps=stamps)
    answers = get(a, "k", asking)
    network.pump()
    (query,) = queryable.queries
    assert query.incoming.stamps is not None
    path = [SEND, ROUTE, ROUTE, RECEIVE]
    assert [one.flags for one in query.incoming.stamps.records] == path
    b.reply(query.incoming, 1, "k", Put(b""), None, network.now)
    b.reply_error(query.incoming, 1, Err(b"no"), network.now)
    network.pump()
    ok, error = answers.items
    assert isinstance(ok, Ok)
    assert isinstance(error, Error)
    for reply in (ok, error):
        assert reply.stamps is not None
        assert [one.flags for one in reply.stamps.records] == path + path
        times = [read_timestamp(one.time, 0, len(one.time))[0] for one in reply.stamps.records]
        a_then_b = [a.zid, a.zid, b.zid, b.zid]
        assert [time.id for time in times] == a_then_b + a_then_b[::-1]


def test_own_queryables_are_not_routed_to() -> None:
    network, a, _ = pair()
    queryable = serve(a, "k")
    stamps = TimestampStack(SEND | ROUTE | RECEIVE, ())
    asking = query_spec(consolidation=ConsolidationMode.NONE, stamps=stamps)
    answers = get(a, "k", asking)
    (query,) = queryable.queries
    a.reply_error(query.incoming, 1, Err(b"no"), network.now)
    (error,) = answers.items
    assert isinstance(error, Error)
    assert error.stamps is not None
    assert [one.flags for one in error.stamps.records] == [SEND, RECEIVE, SEND, RECEIVE]
