"""`open` on real nodes: settings, sockets, timers and the end of the interpreter."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
import zenoh

import zenlake
from tests.measuring import least
from tests.ports import free_endpoint, free_port
from tests.sessions import config_of
from zenlake import Config, Session, ZError
from zenlake.api.session.opening import session_settings
from zenlake.session import Locality
from zenlake.wire import CongestionControl, Priority, QoS


@pytest.fixture
def alone() -> Iterator[Session]:
    with zenlake.open(config_of()) as session:
        yield session


def test_settings_of_the_session() -> None:
    config = Config.from_json5("""{
        namespace: "ns/1",
        queries_default_timeout: 1234,
        aggregation: {subscribers: ["a/**"], publishers: ["b/**"]},
        qos: {publication: [{key_exprs: ["x/*"], config: {priority: "real_time",
            congestion_control: "block", express: true, reliability: "best_effort",
            allowed_destination: "remote"}}]},
    }""")
    settings = session_settings(config)
    assert (settings.namespace, settings.query_timeout_ms) == ("ns/1", 1234)
    assert settings.aggregated_subscribers == ["a/**"]
    assert settings.aggregated_publishers == ["b/**"]
    rule = settings.rule_for("x/1")
    assert rule is not None
    assert rule.overwritten(QoS(5)) == QoS.of(Priority.REAL_TIME, CongestionControl.BLOCK, True)
    assert (rule.reliable, rule.destination) == (False, Locality.REMOTE)
    assert settings.rule_for("y") is None


def test_client_without_a_router_fails_to_open() -> None:
    with pytest.raises(ZError, match="No peer specified and multicast scouting deactivated"):
        zenlake.open(config_of("client"))


@pytest.mark.parametrize("timeout", [0.001, 0.05, 0.4])
def test_timeouts_by_the_real_clock(alone: Session, timeout: float) -> None:
    """Q05: within 50 ms or 5 %."""
    queryable = alone.declare_queryable("k")

    def ask() -> float:
        began = time.monotonic()
        replies = list(alone.get("k", timeout=timeout))
        took_s = time.monotonic() - began
        assert [reply.err and reply.err.payload for reply in replies] == [b"Timeout"]
        queryable.recv().drop()
        return took_s

    assert timeout <= least(ask, timeout + 0.05) < timeout + 0.05


def test_lost_query_is_found_by_the_timer(alone: Session) -> None:
    queryable = alone.declare_queryable("k")
    replies = alone.get("k")
    queryable.recv().reply("k", b"1")  # and not dropped
    began = time.monotonic()
    assert [reply.ok and reply.ok.payload for reply in replies] == [b"1"]
    assert time.monotonic() - began < 5  # a query waits for 10


def test_timestamps_when_enabled() -> None:
    with zenlake.open(config_of(timestamping__enabled=True)) as session:
        subscriber = session.declare_subscriber("k")
        session.put("k", b"")
        session.delete("k")
        first, second = subscriber.recv().timestamp, subscriber.recv().timestamp
        assert first is not None
        assert second is not None
        assert str(first.get_id()) == str(session.zid())
        assert first < second


def test_timestamp_callback_makes_the_records_of_this_node() -> None:
    seen: list[str] = []

    def stamp(context: zenlake.TimestampContext) -> bytes:
        seen.append(str(context.zid))
        return b"mine"

    with zenlake.open(config_of(), timestamp_callback=stamp) as session:
        subscriber = session.declare_subscriber("k")
        points = zenlake.TimestampInstrumentationBuilder().set_send(True).build()
        session.put("k", b"", timestamp_instrumentation=points)
        stack = subscriber.recv().timestamp_stack
        assert stack is not None
        (record,) = stack.records
        assert (record.is_custom, record.timestamp()) == (True, b"mine")
        assert seen == [str(session.zid())]


@pytest.mark.parametrize("leaving", ["", "session.close()", "del session"])
def test_interpreter_exits_at_once(leaving: str) -> None:
    program = f"""
import threading, time, zenlake
config = zenlake.Config()
config.insert_json5("scouting/multicast/enabled", "false")
session = zenlake.open(config)
began = threading.Event()
session.declare_subscriber("k", lambda sample: (began.set(), time.sleep(60)))
session.put("k", b"")
session.put("k", b"")
began.wait()
print(time.time())
{leaving}
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=True
    )
    assert time.time() - float(done.stdout) < 30
    assert done.stderr == ""


@pytest.fixture(params=["peer", "client"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Any]]:
    """A session of eclipse-zenoh and one of ours, connected."""
    endpoints = [free_endpoint()]
    theirs: Any = zenoh.open(config_of(module=zenoh, listen__endpoints=endpoints))
    ours = zenlake.open(config_of(request.param, connect__endpoints=endpoints))
    yield theirs, ours
    ours.close()
    theirs.close()


def test_session_exchanges_everything_with_eclipse_zenoh(both: tuple[Any, Any]) -> None:
    """Publication, query and presence, in both directions."""
    for one, other in (both, both[::-1]):
        publisher = one.declare_publisher("k", encoding="text/plain")
        matching = publisher.declare_matching_listener()
        subscriber = other.declare_subscriber("*")
        assert matching.recv().matching
        publisher.put("hello", attachment="at")
        sample = subscriber.recv()
        assert (str(sample.key_expr), str(sample.payload), str(sample.attachment)) == (
            "k",
            "hello",
            "at",
        )
        assert str(sample.encoding) == "text/plain"
        subscriber.undeclare()
        assert not matching.recv().matching

        querier = one.declare_querier("q")
        matching = querier.declare_matching_listener()
        queryable = other.declare_queryable("q")
        assert matching.recv().matching
        replies = querier.get(parameters="a=1", payload="p")
        with queryable.recv() as query:
            assert (str(query.selector), str(query.payload)) == ("q?a=1", "p")
            query.reply("q", "answer")
            query.reply_err("error")
        results = [str((reply.ok or reply.err).payload) for reply in replies]
        assert results == ["error", "answer"]
        queryable.undeclare()

        watcher = one.liveliness().declare_subscriber("t/**", history=True)
        token = other.liveliness().declare_token("t/1")
        assert str(watcher.recv().kind) == "SampleKind.PUT"
        assert [str(reply.ok.key_expr) for reply in one.liveliness().get("t/*")] == ["t/1"]
        token.undeclare()
        assert str(watcher.recv().kind) == "SampleKind.DELETE"


def test_info_and_events() -> None:
    endpoints = [free_endpoint()]
    with zenlake.open(config_of(listen__endpoints=endpoints)) as a:
        events = a.info.declare_transport_events_listener()
        with zenlake.open(config_of(connect__endpoints=endpoints)) as b:
            event = events.recv()
            assert str(event.kind) == "SampleKind.PUT"
            assert event.transport.zid == b.zid()
            assert a.info.peers_zid() == [b.zid()]
            assert a.info.routers_zid() == []
            stats = a.info.stats()
            assert (stats["transports"], stats["dropped_messages"]) == (1, 0)
            assert (stats["queued_bytes"], stats["unknown_aliases"]) == (0, 0)
            (link,) = a.info.links()
            assert link.zid == b.zid()
            assert [str(link.src)] == endpoints
            history = a.info.declare_link_events_listener(history=True)
            assert history.recv().link == link
            history.undeclare()
            with pytest.raises(ZError, match="Undeclared"):
                history.recv()
        assert str(events.recv().kind) == "SampleKind.DELETE"
    assert list(events) == []


def test_members_of_a_group_are_no_peers() -> None:
    """As deployed: only `transports` and `links` contain them."""
    endpoints = [f"udp/224.0.0.225:{free_port()}#iface=lo"]
    with zenlake.open(config_of(listen__endpoints=endpoints)) as a:
        events = a.info.declare_transport_events_listener()
        with zenlake.open(config_of(listen__endpoints=endpoints)) as b:
            assert events.recv().transport.zid == b.zid()
            assert [one.zid for one in a.info.transports()] == [b.zid()]
            assert a.info.peers_zid() == []
