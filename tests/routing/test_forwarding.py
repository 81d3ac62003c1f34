"""Forwarded messages keep all their fields and extensions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.playbook import Play, connected, queryable, request, subscriber
from tests.routing.web import Web
from zenlake.testing.strategies import message
from zenlake.wire import (
    Declare,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Extension,
    NetworkMessage,
    Push,
    Put,
    QoS,
    QueryableInfo,
    Request,
    Response,
    Timestamp,
    UndeclaredKey,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
    ZenohId,
)

TIME = Timestamp(1 << 32, ZenohId(b"\x01"))
CHANGED = {
    "Push": {"key", "node_id", "stamps"},
    "Request": {"request_id", "key", "node_id", "stamps"},
    "Response": {"request_id", "key", "qos", "stamps"},
}
"""Fields that a hop replaces; all others, including unknown extensions, are copied."""


def kept(message: NetworkMessage) -> dict[str, object]:
    return {
        name: getattr(message, name)
        for name in message.FIELDS
        if name not in CHANGED[type(message).__name__]
    }


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.one_of(message("Push"), message("Request"), message("Response")))
def test_a_forwarded_message_keeps_all_but_what_the_hop_writes(
    original: Push | Request | Response,
) -> None:
    original.key = WireExpr(0, "k")
    play = connected("router", {"c": "client", "p": "peer"}, gossip=False)
    play.sends("p", subscriber(1, "k"), queryable(1, "k", complete=True))
    if isinstance(original, Response):
        play.sends("c", request(1, "k"))
        play.clear_received()
        original.request_id = 1
        play.sends("p", original)
        (copy,) = play.received("c")
    else:
        play.sends("c", original)
        (copy,) = play.received("p")
    assert kept(copy) == kept(original)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(message("Push"))
def test_a_message_that_gets_a_timestamp_keeps_everything_else(original: Push) -> None:
    play = Play("router", gossip=False, timestamping=True, wall_ns=lambda: 10**18)
    play.connects("c", "client")
    play.connects("p", "peer")
    play.sends("p", subscriber(1, "k"))
    original.key = WireExpr(0, "k")
    body = original.body
    if isinstance(body, Put):
        body.timestamp = None
    play.sends("c", original)
    (copy,) = play.received("p")
    assert isinstance(copy, Push)
    if isinstance(body, Put):
        assert isinstance(copy.body, Put)
        assert copy.body is not body
        assert copy.body.timestamp is not None
        copy.body.timestamp = None
    assert kept(copy) == kept(original)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(message("Push"))
def test_a_publication_to_several_neighbours_loses_only_the_timestamp_of_its_header(
    original: Push,
) -> None:
    original.key = WireExpr(0, "k")
    play = Play("router", gossip=False)
    for name in "cpq":
        play.connects(name, "client")
        play.sends(name, subscriber(1, "k"))
    play.sends("c", original)
    for name in "pq":
        (copy,) = play.received(name)
        assert kept(copy) == kept(original) | {"timestamp": None}


KEY = WireExpr(0, "k")
UNKNOWN = (Extension(0x0E), Extension(0x4D, b"unknown"))
OF_SOURCES = [
    (DeclareSubscriber(0, KEY), UndeclareSubscriber(0, UndeclaredKey(KEY))),
    (DeclareQueryable(0, KEY, QueryableInfo(True, 3)), UndeclareQueryable(0, UndeclaredKey(KEY))),
    (DeclareToken(0, KEY), UndeclareToken(0, UndeclaredKey(KEY))),
]


@pytest.mark.parametrize("bodies", OF_SOURCES, ids=lambda bodies: bodies[0].NAME)
def test_a_declaration_of_another_router_keeps_all_but_node_id_and_key(
    bodies: tuple[DeclareSubscriber, UndeclareSubscriber],
) -> None:
    web = Web("a", "b", "c", gossip=False)
    web.link("a", "b", "c")
    web.clear_received()
    for body in bodies:
        body.extensions = UNKNOWN
        original = Declare(body, qos=QoS(8), timestamp=TIME, extensions=UNKNOWN)
        sent = web.wires["b", "c"].messages
        sent.clear()
        web._receive("b", web.link_faces["b", "a"], original, True)
        declares = [message for message, _ in sent if isinstance(message, Declare)]
        (copy,) = [declare for declare in declares if type(declare.body) is type(body)]
        for name in set(Declare.FIELDS) - {"body", "node_id"}:
            assert getattr(copy, name) == getattr(original, name), name
        for name in set(body.FIELDS) - {"key"}:
            assert getattr(copy.body, name) == getattr(body, name), name
