"""`Session`: publishing, subscribing, closing (behaviour reference §2.1, §2.3, §7.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import zenlake
from tests.api.memory import MemoryNetwork
from tests.waiting import until
from zenlake import (
    CongestionControl,
    Encoding,
    KeyExpr,
    Locality,
    Priority,
    Reliability,
    Sample,
    SampleKind,
    SourceInfo,
    ZBytes,
    ZError,
)
from zenlake.api.session.session import Session


@pytest.fixture
def network() -> Iterator[MemoryNetwork]:
    network = MemoryNetwork()
    yield network
    for node in network.nodes:
        for core in node.sessions:
            core.close()


def test_sample_has_all_arguments_of_put(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    subscriber = b.declare_subscriber("demo/**")
    stamp = a.new_timestamp()
    source = SourceInfo(a.id, 7)
    a.put(
        "demo/x",
        "hello",
        encoding="text/plain",
        congestion_control=CongestionControl.BLOCK,
        priority=Priority.REAL_TIME,
        express=True,
        attachment=b"",
        timestamp=stamp,
        source_info=source,
    )
    sample = subscriber.recv()
    assert isinstance(sample, Sample)
    assert sample.key_expr == KeyExpr("demo/x")
    assert sample.payload == ZBytes("hello")
    assert sample.kind is SampleKind.PUT
    assert sample.encoding == Encoding.TEXT_PLAIN
    assert sample.congestion_control is CongestionControl.BLOCK
    assert sample.priority is Priority.REAL_TIME
    assert sample.express is True
    assert sample.attachment is not None
    assert len(sample.attachment) == 0
    assert sample.timestamp == stamp
    assert sample.source_info == source
    assert sample.timestamp_stack is None


def test_defaults_and_delete(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    subscriber = b.declare_subscriber(KeyExpr("k"))
    a.put("k", bytearray(b"1"))
    a.delete("k", attachment="why")
    put, deleted = subscriber.recv(), subscriber.recv()
    assert put.encoding == "zenoh/bytes"
    assert (put.priority, put.congestion_control) == (Priority.DATA, CongestionControl.DROP)
    assert put.express is False
    assert (put.attachment, put.timestamp, put.source_info) == (None, None, None)
    assert deleted.kind is SampleKind.DELETE
    assert deleted.payload == b""
    assert deleted.encoding == "zenoh/bytes"
    assert deleted.attachment == b"why"
    assert subscriber.try_recv() is None


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s: s.put("a//b", b""), ZError, "a//b"),
        (lambda s: s.put("a", 3), TypeError, "argument 'payload': expected bytes/str type"),
        (lambda s: s.put(3, b""), TypeError, "argument 'key_expr': 'int' object"),
        (lambda s: s.put("a", b"", encoding=3), TypeError, "argument 'encoding'"),
        (lambda s: s.put("a", b"", priority=1), TypeError, "argument 'priority'"),
        (lambda s: s.put("a", b"", attachment=1), TypeError, "argument 'attachment'"),
        (lambda s: s.put("a", b"", timestamp=1), TypeError, "argument 'timestamp'"),
        (lambda s: s.get("a", timeout=-1), ValueError, "^negative timeout$"),
        (lambda s: s.get("a", timeout="x"), TypeError, "argument 'timeout': must be real number"),
        (lambda s: s.get("a", target=3), TypeError, "'int' object cannot be converted to 'Query"),
        (lambda s: s.get("a", timeout=float("nan")), ValueError, "^negative timeout$"),
        (lambda s: s.get("a", cancellation_token=3), TypeError, "argument 'cancellation_token'"),
        (lambda s: s.put("a", b"", express=1), TypeError, "argument 'express': 'int' object"),
        (lambda s: s.declare_queryable("a", complete=1), TypeError, "argument 'complete'"),
        (lambda s: s.declare_subscriber("a", print).recv(), AttributeError, "'NoneType' object"),
        (lambda s: iter(s.declare_subscriber("a", print)), TypeError, "not iterable"),
        (lambda s: s.get("a", budget=0), ZError, "budget"),
        (lambda s: s.declare_subscriber("a", 3), ValueError, "^Invalid handler type int$"),
        (lambda s: s.undeclare(KeyExpr("a/b")), ZError, "^Failed to undeclare a/b, make sure"),
        (lambda s: s.undeclare(3), AttributeError, "no attribute 'undeclare'"),
        (lambda s: Session(), TypeError, "^No constructor defined for Session$"),
        (lambda s: zenlake.open(s), TypeError, "argument 'config'"),
    ],
)
def test_mistake_raises_an_error_with_its_text(
    network: MemoryNetwork, call: Callable[[Any], object], error: type[Exception], text: str
) -> None:
    session = network.open()
    with pytest.raises(error, match=text):
        call(session)


def test_keyexpr_can_be_declared_and_undeclared_once(network: MemoryNetwork) -> None:
    session = network.open()
    key = session.declare_keyexpr("a/b")
    assert repr(key) == "ke`a/b`"
    session.undeclare(key)
    with pytest.raises(ZError):
        session.undeclare(key)
    publisher = session.declare_publisher("a")
    session.undeclare(publisher)
    with pytest.raises(ZError, match=r"^Undeclared publisher$"):
        publisher.put(b"")


def test_closed_session_refuses_operations(network: MemoryNetwork) -> None:
    session = network.open()
    subscriber, publisher = session.declare_subscriber("a"), session.declare_publisher("a")
    querier, liveliness = session.declare_querier("a"), session.liveliness()
    assert not session.is_closed()
    with session as same:
        assert same is session
    assert session.is_closed()
    session.close()
    refused: list[Callable[[], object]] = [
        lambda: session.put("a", b""),
        lambda: session.delete("a"),
        lambda: session.get("a"),
        lambda: session.declare_subscriber("a"),
        lambda: session.declare_queryable("a"),
        lambda: session.declare_publisher("a"),
        lambda: session.declare_querier("a"),
        lambda: session.declare_keyexpr("a"),
        lambda: liveliness.declare_token("a"),
        lambda: liveliness.get("a"),
        lambda: publisher.put(b""),
        lambda: querier.get(),
        lambda: publisher.declare_matching_listener(),
        lambda: session.info.declare_link_events_listener(),
    ]
    for operation in refused:
        with pytest.raises(ZError, match=r"^session closed$"):
            operation()
    for receive in (subscriber.recv, subscriber.try_recv):
        with pytest.raises(ZError, match=r"^channel is empty and closed$"):
            receive()
    assert list(subscriber) == []
    assert not publisher.matching_status
    subscriber.undeclare()
    publisher.undeclare()
    assert str(session.new_timestamp()).endswith(f"/{session.zid()}")
    assert session.info.zid() == session.zid()
    assert session.id.eid == 1


@pytest.mark.parametrize("kind", ["publisher", "subscriber", "queryable", "querier"])
def test_undeclared(network: MemoryNetwork, kind: str) -> None:
    session = network.open()
    entity = getattr(session, f"declare_{kind}")("k")
    with entity as same:
        assert same is entity
        assert entity.key_expr == "k"
        assert entity.id.zid == session.zid()
        assert entity.id.eid > 1
    names = ["key_expr", "id"]
    names += ["handler"] if kind in ("subscriber", "queryable") else ["matching_status"]
    for name in names:
        with pytest.raises(ZError, match=f"^Undeclared {kind}$"):
            getattr(entity, name)
    with pytest.raises(ZError, match=f"^Undeclared {kind}$"):
        entity.undeclare()
    with pytest.raises(ZError, match=f"^Undeclared {kind}$"), entity:
        pass


def test_publisher_properties(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    subscriber = b.declare_subscriber("k")
    default = a.declare_publisher("k")
    assert (default.encoding, default.congestion_control, default.priority) == (
        Encoding.ZENOH_BYTES,
        CongestionControl.DROP,
        Priority.DATA,
    )
    assert default.reliability is Reliability.RELIABLE
    publisher = a.declare_publisher(
        "k",
        encoding=Encoding.TEXT_PLAIN,
        congestion_control=CongestionControl.BLOCK,
        priority=Priority.BACKGROUND,
        express=True,
        reliability=Reliability.BEST_EFFORT,
        allowed_destination=Locality.REMOTE,
    )
    assert publisher.encoding == "text/plain"
    assert publisher.congestion_control is CongestionControl.BLOCK
    assert publisher.priority is Priority.BACKGROUND
    assert publisher.reliability is Reliability.BEST_EFFORT
    publisher.put("1")
    publisher.put("2", encoding="text/json", attachment="a")
    publisher.delete()
    first, second, third = (subscriber.recv() for _ in range(3))
    assert first.encoding == "text/plain"
    assert (first.priority, first.express) == (Priority.BACKGROUND, True)
    assert second.encoding == "text/json"
    assert second.attachment == b"a"
    assert third.kind is SampleKind.DELETE
    assert third.encoding == "zenoh/bytes"
    assert publisher.matching_status.matching
    assert repr(publisher.matching_status) == "MatchingStatus { matching: true }"


def test_matching_listener_reports_each_change(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    publisher, statuses = a.declare_publisher("k"), []
    listener = publisher.declare_matching_listener()
    pair = (lambda status: statuses.append(bool(status)), "mine")
    other = publisher.declare_matching_listener(pair)  # if it were lost, it would receive nothing
    assert listener.try_recv() is None
    with b.declare_subscriber("k"):
        assert listener.recv().matching is True
    assert listener.recv().matching is False
    publisher.undeclare()
    assert list(listener) == []
    until(lambda: len(statuses) == 2)
    assert statuses == [True, False]
    assert other.handler == "mine"


def test_matching_listener_of_a_publisher_that_is_gone(network: MemoryNetwork) -> None:
    session = network.open()
    publisher = session.declare_publisher("k")
    with publisher.declare_matching_listener() as listener:
        pass
    with pytest.raises(ZError):
        listener.recv()
