"""Hand-made events, for tests of fields and of output."""

from __future__ import annotations

from typing import Any

from zenlake.trace.events import Carrier, MessageSeen
from zenlake.trace.link import Link
from zenlake.trace.session import Session
from zenlake.wire import Fragment, Frame, Push, Put, Query, Request
from zenlake.wire.kinds import kind_of
from zenlake.wire.message import Message, NetworkMessage
from zenlake.wire.values.wire_expr import WireExpr

FIRST_NS = 1_794_705_702_000_000_000
CLIENT = "3b76c0ffee"
ROUTER = "ff6b5eed"


def make_session(client: str = CLIENT, port: int = 50372) -> Session:
    """A client that opened a session with a router; its link is `links[0]`."""
    source, destination = f"127.0.0.1:{port}", "127.0.0.1:7447"
    link = Link(f"{source}-{destination}#1", "tcp", source, destination, seen_start=True)
    session = Session(link.name, link, FIRST_NS, seen_start=True)
    link.session = session
    session.nodes[0].zid, session.nodes[0].role = client, "client"
    session.nodes[1].zid, session.nodes[1].role = ROUTER, "router"
    return session


SESSION = make_session()


def seen(
    message: Message,
    *,
    key: str | None = None,
    packet: int = 1,
    ms: float = 0.0,
    direction: int = 0,
    session: Session = SESSION,
) -> MessageSeen:
    """`message` as it crossed the link of the session, by default from the client."""
    time_ns = FIRST_NS + int(ms * 1_000_000)
    link, node = session.links[0], session.nodes[direction]
    kind = kind_of(message)
    event = MessageSeen(packet, packet, time_ns, link, direction, session, node, kind, message)
    event.key = key
    if isinstance(message, NetworkMessage):
        event.carrier = Carrier(Frame(7, [message]))
    elif isinstance(message, Frame | Fragment):
        event.carrier = Carrier(message)
    return event


def put(key: str = "robot/7/pose", payload: bytes = b"hello", **more: Any) -> MessageSeen:
    return seen(Push(WireExpr(0, key), Put(payload)), key=key, **more)


def query(request_id: int = 12, key: str = "robot/**", **more: Any) -> MessageSeen:
    request = Request(request_id, WireExpr(0, key), Query())
    return seen(request, key=key, **more)
