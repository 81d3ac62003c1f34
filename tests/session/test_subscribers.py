"""Publications and subscribers (behaviour reference §2.3, §2.4, §2.9)."""

from __future__ import annotations

import pytest

from tests.session.network import ANY, ListSink, Network, pair, put, subscribe, two_nodes
from zenlake.session import Locality, PublicationRule, SessionSettings
from zenlake.testing.simulation.items import Sample
from zenlake.wire import (
    CongestionControl,
    Declare,
    DeclareSubscriber,
    Del,
    NetworkMessage,
    Priority,
    Push,
    Put,
    QoS,
    UndeclareSubscriber,
    WhatAmI,
)


@pytest.mark.parametrize("role", [WhatAmI.PEER, WhatAmI.CLIENT])
def test_sample_reaches_other_session_and_own(role: WhatAmI) -> None:
    network, a, b = pair(WhatAmI.PEER, role)
    near, far = subscribe(a, "demo/**"), subscribe(b, "demo/*")
    network.pump()
    put(a, "demo/x", b"1")
    network.pump()
    assert near.samples == far.samples == [("demo/x", b"1")]


def test_wildcard_publication_keeps_its_key() -> None:
    network, a, b = pair()
    sink = subscribe(b, "demo/x")
    network.pump()
    put(a, "demo/*", b"1")
    network.pump()
    assert sink.samples == [("demo/*", b"1")]


def test_delete_has_no_payload() -> None:
    network, a, b = pair()
    sink = subscribe(b, "k")
    network.pump()
    a.put(a.publications.prepare("k", QoS(5), True, ANY, None), Del(), None, network.now)
    network.pump()
    assert sink.samples == [("k", None)]


def test_subscribers_on_one_key_are_declared_once() -> None:
    network, one, _, (there, _) = two_nodes()
    core = one.core
    first = core.declare_subscriber("k", ListSink(), ANY, network.now)
    second = core.declare_subscriber("k", ListSink(), ANY, network.now)
    assert _declarations(there.log) == [DeclareSubscriber]
    core.undeclare(first, network.now)
    assert _declarations(there.log) == [DeclareSubscriber]
    core.undeclare(second, network.now)
    assert _declarations(there.log) == [DeclareSubscriber, UndeclareSubscriber]


def _declarations(log: list[NetworkMessage]) -> list[type]:
    bodies = [type(one.body) for one in log if isinstance(one, Declare)]
    return [kind for kind in bodies if kind in (DeclareSubscriber, UndeclareSubscriber)]


@pytest.mark.parametrize("origin", list(Locality))
@pytest.mark.parametrize("destination", list(Locality))
def test_locality_decides_who_gets_a_sample(origin: Locality, destination: Locality) -> None:
    network, a, b = pair()
    near, far = subscribe(a, "k", origin), subscribe(b, "k", origin)
    network.pump()
    a.put(a.publications.prepare("k", QoS(5), True, destination, None), Put(b""), None, network.now)
    network.pump()
    heard_here = origin != Locality.REMOTE and destination != Locality.REMOTE
    heard_there = Locality.SESSION_LOCAL not in (origin, destination)
    assert (len(near.items), len(far.items)) == (heard_here, heard_there)


def test_session_local_subscriber_is_not_declared() -> None:
    _, one, _, (there, _) = two_nodes()
    subscribe(one.core, "k", Locality.SESSION_LOCAL)
    assert _declarations(there.log) == []


def test_undeclared_subscriber_gets_nothing_and_its_sink_is_closed() -> None:
    network, a, _ = pair()
    sink = ListSink()
    entity = a.declare_subscriber("k", sink, ANY, network.now)
    put(a, "k")
    a.undeclare(entity, network.now)
    a.undeclare(entity, network.now)
    put(a, "k")
    assert len(sink.items) == 1
    assert sink.is_closed


def test_routes_follow_subscribers() -> None:
    """The sinks of a key are cached; a new subscriber must still get samples."""
    _, a, _ = pair()
    first = subscribe(a, "k")
    put(a, "k")
    second = subscribe(a, "*")
    put(a, "k")
    assert (len(first.items), len(second.items)) == (2, 1)


def test_qos_and_reliability_are_sent() -> None:
    network, one, two, (there, _) = two_nodes()
    sink = subscribe(two.core, "k")
    network.pump()
    qos = QoS.of(Priority.REAL_TIME, CongestionControl.BLOCK, True)
    publication = one.core.publications.prepare("k", qos, False, ANY, None)
    one.core.put(publication, Put(b""), None, network.now)
    assert [line_reliable for _, _, line_reliable in network.queue] == [False]
    network.pump()
    (sample,) = sink.items
    assert isinstance(sample, Sample)
    assert sample.qos == qos
    put(one.core, "k")
    assert [one for one in there.log if isinstance(one, Push)][-1].qos is None


def test_first_publication_rule_that_includes_the_key_wins() -> None:
    rules = [
        PublicationRule(["demo/*"], priority=Priority.BACKGROUND, reliable=False),
        PublicationRule(["**"], express=True, destination=Locality.REMOTE),
    ]
    network = Network()
    core = network.add(settings=SessionSettings(publication_rules=rules)).core
    first = core.publications.prepare("demo/x", QoS(5), True, ANY, None)
    assert (first.qos, first.reliable, first.destination) == (QoS(7), False, ANY)
    second = core.publications.prepare("demo/**", QoS(5), True, ANY, None)
    assert (second.qos, second.destination) == (QoS(0x15), Locality.REMOTE)


def test_aggregated_subscribers_are_declared_under_the_listed_key() -> None:
    settings = SessionSettings(aggregated_subscribers=["demo/**"])
    network, one, two, (there, _) = two_nodes(settings=settings)
    sinks = [ListSink(), ListSink()]
    entities = [
        one.core.declare_subscriber(key, sink, ANY, network.now)
        for key, sink in zip(("demo/a", "demo/b"), sinks, strict=True)
    ]
    network.pump()
    put(two.core, "demo/a")
    put(two.core, "demo/c")
    network.pump()
    assert [len(sink.items) for sink in sinks] == [1, 0]
    for entity in entities:
        one.core.undeclare(entity, network.now)
    assert _declarations(there.log) == [DeclareSubscriber, UndeclareSubscriber]


def test_session_stamps_only_with_a_clock() -> None:
    for timestamping in (False, True):
        network = Network()
        node = network.add(timestamping=timestamping)
        sink = ListSink()
        node.core.declare_subscriber("k", sink, ANY, network.now)
        put(node.core, "k")
        put(node.core, "k")
        times = [one.body.timestamp for one in sink.items if isinstance(one, Sample)]
        if timestamping:
            assert times[0] is not None
            assert times[1] is not None
            assert times[0] < times[1]
            assert times[0].id == node.zid
        else:
            assert times == [None, None]
