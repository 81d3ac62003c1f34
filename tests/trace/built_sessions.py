"""BuiltSession: hand-made events of one session, a millisecond apart."""

from __future__ import annotations

from collections import Counter

from tests.paths import CAPTURES
from zenlake import trace
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.link import Link
from zenlake.trace.session import Node, Session
from zenlake.wire import Del, Err, Put, Query, Reply, Request, Response, ResponseFinal
from zenlake.wire.kinds import kind_of
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.wire_expr import WireExpr

CAPTURE_NAMES = sorted(path.name for path in CAPTURES.glob("*.pcap*"))
OPENER, ACCEPTOR = 0, 1
KEY = "demo/a"
MILLISECOND = 1_000_000
SECOND = 1_000 * MILLISECOND


class BuiltSession:
    """The messages of both sides of a session; `events` has all of them in order."""

    def __init__(self, events: list[TraceEvent] | None = None, name: str = "a:1-b:2#1") -> None:
        self.events: list[TraceEvent] = [] if events is None else events
        self.link = Link(name, "tcp", "a:1", "b:2", True)
        self.session = Session(name, self.link, 0, True)
        self.session.nodes[OPENER].zid = "aa"
        self.session.nodes[ACCEPTOR].zid = "bb"
        self.later_ns = 0

    def second_link(self) -> None:
        """Sends later messages on a second connection, which the acceptor opened."""
        self.link = Link("b:3-a:4#1", "tcp", "b:3", "a:4", True)
        self.link.sides = (ACCEPTOR, OPENER)
        self.session.links.append(self.link)

    def send(self, side: int, message: NetworkMessage, key: str | None = None) -> MessageSeen:
        number, time_ns = self._next()
        direction = self.link.sides.index(side)
        node = self.session.nodes[side]
        kind = kind_of(message)
        event = MessageSeen(
            number, number, time_ns, self.link, direction, self.session, node, kind, message
        )
        event.key = key
        self.events.append(event)
        return event

    def change(self, change: str) -> SessionChanged:
        number, time_ns = self._next()
        event = SessionChanged(number, time_ns, self.link, self.session, change)
        if change in ("closed", "lost", "refused"):
            self.session.closed_ns = time_ns
        self.events.append(event)
        return event

    def _next(self) -> tuple[int, int]:
        number = len(self.events) + 1
        return number, number * MILLISECOND + self.later_ns


class BuiltGroup(BuiltSession):
    """The messages of the members of a multicast group."""

    def __init__(self) -> None:
        super().__init__(name="224.0.0.1:7446")
        self.session.is_multicast = True

    def send_as(self, member: str, message: NetworkMessage, key: str | None = None) -> MessageSeen:
        self.become(member)
        event = self.send(OPENER, message, key)
        event.sender_node = self.session.members[member]
        return event

    def become(self, member: str) -> None:
        """Makes later events come from this member or concern it."""
        self.link = Link(f"{member}-group#1", "multicast", member, "group", True)
        self.session.members.setdefault(member, Node(member, zid=f"zid of {member}"))


def events_and_counts(name: str) -> tuple[list[TraceEvent], Counter[str]]:
    """The events of a bundled capture, and its counts of accepted messages by kind."""
    events = list(trace.open(str(CAPTURES / name)))
    messages = [event for event in events if isinstance(event, MessageSeen)]
    return events, Counter(event.kind for event in messages if event.ignored is None)


def request(number: int, key: str = KEY, parameters: str | None = None) -> Request:
    return Request(number, WireExpr(0, key), Query(parameters=parameters), timeout_ms=10_000)


def reply(number: int, payload: bytes = b"value", key: str = KEY) -> Response:
    return Response(number, WireExpr(0, key), Reply(Put(payload)))


def deletion(number: int, key: str = KEY) -> Response:
    return Response(number, WireExpr(0, key), Reply(Del()))


def error(number: int) -> Response:
    return Response(number, WireExpr(0, ""), Err(b"Timeout"))


def final(number: int) -> ResponseFinal:
    return ResponseFinal(number)
