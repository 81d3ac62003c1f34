"""A session in a namespace sees only keys within it (behaviour reference §6.7)."""

from __future__ import annotations

from tests.session.network import ANY, ListSink, get, put, serve, subscribe, two_nodes
from zenlake.session import SessionSettings
from zenlake.session.namespace import Namespace
from zenlake.wire import Put


def test_keys_get_and_lose_the_prefix_of_the_namespace() -> None:
    names = Namespace("ns/1")
    assert names.full("a") == "ns/1/a"
    assert [names.own(key) for key in ("ns/1/zz", "ns/*/w", "ns/2/x", "**", "ns/1")] == [
        "zz",
        "w",
        None,
        "**",
        None,
    ]
    assert Namespace("").own("a") == Namespace("").full("a") == "a"


def test_keys_of_all_messages_get_and_lose_the_prefix() -> None:
    settings = SessionSettings(namespace="ns/1")
    network, inner, outer, _ = two_nodes(settings=settings)
    a, b = inner.core, outer.core
    mine, all_there_is = subscribe(a, "**"), subscribe(b, "**")
    network.pump()
    put(b, "ns/1/zz", b"1")
    put(b, "ns/*/w", b"2")
    put(b, "other", b"3")
    put(a, "own", b"4")
    network.pump()
    assert mine.samples == [("own", b"4"), ("zz", b"1"), ("w", b"2")]
    assert all_there_is.samples[-1] == ("ns/1/own", b"4")

    queryable = serve(a, "q")
    network.pump()
    answers = get(b, "ns/1/q")
    network.pump()
    incoming = queryable.queries[0].incoming
    assert incoming.key == "q"
    a.reply(incoming, 3, "q", Put(b"r"), None, network.now)
    a.drop_query(incoming, network.now)
    network.pump()
    assert answers.samples == [("ns/1/q", b"r")]

    queryable = serve(b, "ns/1/p")
    network.pump()
    answers = get(a, "p")
    network.pump()
    incoming = queryable.queries[0].incoming
    b.reply(incoming, 3, "ns/1/p", Put(b"s"), None, network.now)
    b.drop_query(incoming, network.now)
    network.pump()
    assert answers.samples == [("p", b"s")]


def test_liveliness_and_matching() -> None:
    settings = SessionSettings(namespace="ns")
    network, inner, outer, _ = two_nodes(settings=settings)
    a, b = inner.core, outer.core
    sink = ListSink()
    a.declare_liveliness_subscriber("**", sink, True, network.now)
    publisher = a.declare_publisher("k", ANY, network.now)
    token = b.declare_token("ns/t", network.now)
    b.declare_token("elsewhere", network.now)
    subscribe(b, "k")
    network.pump()
    assert sink.samples == [("t", b"")]
    assert not a.matching.is_matching(publisher)
    b.undeclare(token, network.now)
    subscribe(b, "ns/k")
    network.pump()
    assert sink.samples == [("t", b""), ("t", None)]
    assert a.matching.is_matching(publisher)
