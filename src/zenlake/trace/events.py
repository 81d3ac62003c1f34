"""Trace events: recorded Zenoh traffic in the order in which it was completed.

Most events are `MessageSeen`. The others report the beginning and end of sessions, missing data,
and bytes that could not be decoded.
"""

from __future__ import annotations

from zenlake.trace.link import Link
from zenlake.trace.session import Node, Session
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    Fragment,
    Frame,
    Interest,
    Request,
    Response,
    ResponseFinal,
    UndeclareKeyExpr,
)
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.message import Message


class TraceEvent:
    """An event with its packet, counted from 1, and time."""

    __slots__ = ("packet", "time_ns")

    packet: int
    time_ns: int

    @property
    def is_state(self) -> bool:
        """Whether the event repeats what happened before the first packet of a recording.

        Such an event describes a session, declaration or request that is open when the recording
        begins. It is not part of the recorded traffic: `packet` is 0 or less.
        """
        return self.packet <= 0


class Carrier:
    """The FRAME or last FRAGMENT that carried a network message, without its payload."""

    __slots__ = ("qos", "reliable", "sn")

    def __init__(self, message: Frame | Fragment) -> None:
        self.sn = message.sn
        self.reliable = message.reliable
        self.qos = message.qos

    @property
    def priority(self) -> int:
        return DEFAULT_PRIORITY if self.qos is None else int(self.qos)


class MessageSeen(TraceEvent):
    """One message of any layer. The event of a FRAME precedes those of its messages."""

    __slots__ = (
        "carrier",
        "direction",
        "earlier_packets",
        "fragments",
        "ignored",
        "is_answer",
        "key",
        "kind",
        "link",
        "message",
        "receiver_node",
        "sender_node",
        "seq",
        "session",
        "wire_size",
    )

    def __init__(
        self,
        seq: int,
        packet: int,
        time_ns: int,
        link: Link,
        direction: int,
        session: Session | None,
        sender_node: Node | None,
        kind: str,
        message: Message,
    ) -> None:
        self.seq = seq
        """The number of the message in the capture, from 1; 0 before its first packet."""
        self.packet = packet
        self.time_ns = time_ns
        self.link = link
        self.direction = direction
        self.session = session
        self.sender_node = sender_node
        self.receiver_node: Node | None = None
        """The session at that time: the link may join another session later."""
        if session is not None and not session.is_multicast:
            self.receiver_node = session.nodes[1 - link.sides[direction]]
        self.kind = kind
        """The kind as in `zenlake.wire.kinds`, such as `PUSH/PUT`."""
        self.message = message
        self.carrier: Carrier | None = None
        """The channel and sequence number of a network message, FRAME or FRAGMENT."""
        self.key: str | None = None
        """The whole key expression; None if the message has none or its alias is unknown."""
        self.earlier_packets: tuple[int, ...] = ()
        """Earlier packets that carried parts of the message."""
        self.fragments = 0
        """The number of FRAGMENTs that a network message came in."""
        self.wire_size = 0
        """Bytes on the wire, if known: the encoder of zenlake may need fewer."""
        self.is_answer = False
        """Whether the message is a declaration without an end (see `interest_answers`)."""
        self.ignored: str | None = None
        """Why a receiver would drop the message: an old sequence number, no first fragment, ..."""

    @property
    def sender(self) -> str:
        """The address that sent the message."""
        return self.link.sender(self.direction)

    @property
    def receiver(self) -> str:
        return self.link.receiver(self.direction)

    @property
    def sender_zid(self) -> str | None:
        node = self.sender_node
        return None if node is None else node.zid

    @property
    def receiver_zid(self) -> str | None:
        node = self.receiver_node
        return None if node is None else node.zid

    @property
    def reliable(self) -> bool | None:
        """The reliability of the channel; None for messages outside channels."""
        return None if self.carrier is None else self.carrier.reliable

    @property
    def priority(self) -> int | None:
        """The priority of the channel: 0 (control) to 7 (background)."""
        return None if self.carrier is None else self.carrier.priority

    @property
    def sn(self) -> int | None:
        return None if self.carrier is None else self.carrier.sn

    @property
    def request_id(self) -> int | None:
        message = self.message
        if isinstance(message, (Request, Response, ResponseFinal)):
            return message.request_id
        return None

    @property
    def interest_id(self) -> int | None:
        message = self.message
        if isinstance(message, Declare):
            return message.interest_id
        return message.id if isinstance(message, Interest) else None

    @property
    def entity_id(self) -> int | None:
        """The id of the entity that is declared or undeclared."""
        message = self.message
        if not isinstance(message, Declare):
            return None
        body = message.body
        if isinstance(body, (DeclareKeyExpr, UndeclareKeyExpr)):
            return body.expr_id
        return None if isinstance(body, DeclareFinal) else body.id

    @property
    def size(self) -> int:
        """Bytes; for a FRAME, including all messages in it."""
        return self.wire_size or len(bytes(self.message))

    def __repr__(self) -> str:
        return f"MessageSeen({self.packet}, {self.link.name}, {self.kind}, {self.key!r})"


class SessionChanged(TraceEvent):
    """A session began, opened or ended.

    `change` is `attempted` (the first INIT), `opened`, `joined` (another link), `refused`,
    `closed`, `lost` (it ended without CLOSE), or `found` (it was open before the capture). For a
    multicast group: `found`, `joined` (another member), `left`.
    """

    __slots__ = ("change", "link", "session")

    def __init__(
        self, packet: int, time_ns: int, link: Link, session: Session, change: str
    ) -> None:
        self.packet = packet
        self.time_ns = time_ns
        self.link = link
        self.session = session
        self.change = change

    def __repr__(self) -> str:
        return f"SessionChanged({self.packet}, {self.session.id}, {self.change})"


def reliability_text(is_reliable: bool) -> str:
    return "reliable" if is_reliable else "best_effort"


def ends_session(event: SessionChanged) -> bool:
    return event.change in ("closed", "lost", "refused")


class Missing(TraceEvent):
    """Data that was sent and is not in the capture.

    `kind` is `tcp_gap` or `truncated` (bytes), `resync` (bytes skipped to find the next batch),
    `sn_gap` (a count of sequence numbers), `fragment` (bytes of a message that stays incomplete).
    `count` and `bytes` are 0 if they are not known.
    """

    __slots__ = ("bytes", "cause", "count", "direction", "kind", "link", "priority", "reliable")

    def __init__(
        self,
        packet: int,
        time_ns: int,
        link: Link,
        direction: int,
        kind: str,
        cause: str,
        count: int = 0,
        bytes: int = 0,
        priority: int | None = None,
        reliable: bool | None = None,
    ) -> None:
        self.packet = packet
        self.time_ns = time_ns
        self.link = link
        self.direction = direction
        self.kind = kind
        self.cause = cause
        self.count = count
        self.bytes = bytes
        self.priority = priority
        self.reliable = reliable

    @property
    def nodes(self) -> tuple[Node | None, Node | None]:
        """The sender and the receiver, as far as they are known."""
        session = self.link.session
        if session is None:
            return None, None
        if session.is_multicast:
            return session.members.get(self.link.ends[0]), None
        side = self.link.sides[self.direction]
        return session.nodes[side], session.nodes[1 - side]

    @property
    def reliability(self) -> str | None:
        return None if self.reliable is None else reliability_text(self.reliable)

    def __repr__(self) -> str:
        return f"Missing({self.packet}, {self.link.name}, {self.kind}, {self.cause!r})"


class Undecoded(TraceEvent):
    """Captured bytes that are in no message.

    `state` is `truncated`, `gap`, `encrypted`, `not_zenoh` or `malformed`. A connection that does
    not carry Zenoh has one such event for each direction, at its end.
    """

    __slots__ = ("bytes", "cause", "direction", "link", "state")

    def __init__(
        self,
        packet: int,
        time_ns: int,
        link: Link,
        direction: int,
        state: str,
        bytes: int,
        cause: str,
    ) -> None:
        self.packet = packet
        self.time_ns = time_ns
        self.link = link
        self.direction = direction
        self.state = state
        self.bytes = bytes
        self.cause = cause

    def __repr__(self) -> str:
        return f"Undecoded({self.packet}, {self.link.name}, {self.state}, {self.bytes} bytes)"
