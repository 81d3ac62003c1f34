"""Our bytes against a real node: eclipse-zenoh as a router in this process.

A node that cannot decode a message drops the link without a word. So: send many random messages
of every kind, then ask something; the answer proves that all of them were understood.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import zenoh
from hypothesis import HealthCheck, given, seed, settings

from tests.chance import IS_FULL
from tests.interop.link import Link
from tests.ports import free_port
from tests.sessions import config_of
from zenlake.testing.strategies import message
from zenlake.wire import (
    CongestionControl,
    Declare,
    DeclareSubscriber,
    Interest,
    InterestMode,
    Message,
    NetworkMessage,
    Oam,
    Push,
    Put,
    QoS,
    Query,
    Request,
    ResponseFinal,
    WireExpr,
    ZenohId,
)

MESSAGES_PER_KIND = 1000 if IS_FULL else 150
PROBE_ID = 0xFFFF_FFF0
KINDS = ("Push", "Request", "Response", "ResponseFinal", "Declare", "Interest", "Oam")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A real router on a free port."""
    port = free_port()
    with zenoh.open(config_of("router", zenoh, listen__endpoints=[f"tcp/127.0.0.1:{port}"])):
        yield port


@pytest.fixture
def link(port: int) -> Iterator[Link]:
    with Link(port, ZenohId.from_int(random.getrandbits(100) | 1)) as link:
        yield link


def assert_alive(link: Link) -> None:
    """The node answers a query without queryables at once; other answers may come first.

    The answer repeats the QoS of the query: without Block, a busy node might drop it.
    """
    block = QoS.of(congestion=CongestionControl.BLOCK)
    link.send_network(Request(PROBE_ID, WireExpr(0, "nobody/answers/this"), Query(), qos=block))
    while link.receive_until(ResponseFinal).request_id != PROBE_ID:
        pass


def test_a_session_opens_and_a_query_ends(link: Link) -> None:
    assert_alive(link)


def test_our_publication_reaches_our_subscriber(link: Link, port: int) -> None:
    link.send_network(Declare(DeclareSubscriber(1, WireExpr(0, "back/**"))))
    assert_alive(link)
    with Link(port, ZenohId.from_int(0xABC)) as publisher:
        publisher.send_network(Push(WireExpr(0, "back/a"), Put(b"payload")))
        push = link.receive_until(Push)
    assert isinstance(push.body, Put)
    assert push.body.payload == b"payload"
    assert push.body.timestamp is not None, "a router stamps what it routes"


def uses_shared_memory(value: Message) -> bool:
    """Whether a message uses shared memory, which is not negotiated: a node would refuse it."""
    body = getattr(value, "body", None)
    inner = getattr(body, "body", None)
    return any(
        getattr(part, "shm", False) or getattr(part, "body_shm", None) is not None
        for part in (body, inner)
    )


def is_sendable(value: Message) -> bool:
    """Whether a message fits a batch, and a client may send it without further negotiation."""
    routed = getattr(value, "node_id", None) is not None  # only routers use node ids
    link_state = isinstance(value, Oam) and value.id == 1  # only routers send link states
    unusual = routed or link_state or uses_shared_memory(value)
    return not unusual and len(bytes(value)) < 60_000


@pytest.mark.parametrize("kind", KINDS)
def test_random_messages_of_ours_are_understood(kind: str, port: int) -> None:
    sent: list[NetworkMessage] = []

    @seed(20_260_101)
    @settings(
        max_examples=MESSAGES_PER_KIND,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(message(kind))
    def collect(value: Message) -> None:
        assert isinstance(value, NetworkMessage)
        if is_sendable(value):
            sent.append(value)

    collect()
    assert len(sent) > MESSAGES_PER_KIND // 4
    # Opened only now: a link without messages for the time of its lease is dropped.
    with Link(port, ZenohId.from_int(random.getrandbits(100) | 1)) as link:
        for number, value in enumerate(sent):
            link.send_network(value)
            if number % 50 == 49:
                assert_alive(link)
        assert_alive(link)


def test_an_interest_is_answered(link: Link) -> None:
    interest = Interest(InterestMode.CURRENT, 1, tokens=True, key=WireExpr(0, "some/**"))
    link.send_network(interest)
    assert link.receive_until(Declare).interest_id == 1
