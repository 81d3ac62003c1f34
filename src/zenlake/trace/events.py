"""Trace events: what becomes known of recorded Zenoh traffic, in the order it was completed.

Most are `MessageSeen`. The others say how sessions begin and end, what is missing, and what
could not be read.
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
from zenlake.wire.message import Message


class TraceEvent:
    """Something at a place of the capture: the packet, counted from 1, and its time."""

    __slots__ = ("packet", "time_ns")

    packet: int
    time_ns: int


class Carrier:
    """What a network message came in: a FRAME, or its last FRAGMENT, without what that holds."""

    __slots__ = ("qos", "reliable", "sn")

    def __init__(self, message: Frame | Fragment) -> None:
        self.sn = message.sn
        self.reliable = message.reliable
        self.qos = message.qos

    @property
    def priority(self) -> int:
        return 5 if self.qos is None else int(self.qos)


class MessageSeen(TraceEvent):
    """One message of any layer. A FRAME comes first, then each message in it."""

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
        """Orders the messages of a capture, from 1."""
        self.packet = packet
        self.time_ns = time_ns
        self.link = link
        self.direction = direction
        self.session = session
        self.sender_node = sender_node
        self.receiver_node: Node | None = None
        """Known at that time: a link may join another session later."""
        if session is not None and not session.is_multicast:
            self.receiver_node = session.nodes[1 - link.sides[direction]]
        self.kind = kind
        """The word of `zenlake.wire.kinds`, such as `PUSH/PUT`."""
        self.message = message
        self.carrier: Carrier | None = None
        """Of a network message, FRAME or FRAGMENT: its place in a channel."""
        self.key: str | None = None
        """The whole key expression; None where the message has none or its alias is unknown."""
        self.earlier_packets: tuple[int, ...] = ()
        """Other packets that carried a part of it."""
        self.fragments = 0
        """Of how many FRAGMENTs a network message was put together."""
        self.wire_size = 0
        """Bytes as they came, where that is known: others might write it in fewer."""
        self.is_answer = False
        """Whether it is a declaration that tells once what is there (see `interest_answers`)."""
        self.ignored: str | None = None
        """Why a receiver would not take it: an old sequence number, no first fragment, ..."""

    @property
    def sender(self) -> str:
        """The address it came from."""
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
        """The channel's; None for what travels in none."""
        return None if self.carrier is None else self.carrier.reliable

    @property
    def priority(self) -> int | None:
        """The channel's: 0 (control) to 7 (background)."""
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
        """The number of what is declared or undeclared."""
        message = self.message
        if not isinstance(message, Declare):
            return None
        body = message.body
        if isinstance(body, (DeclareKeyExpr, UndeclareKeyExpr)):
            return body.expr_id
        return None if isinstance(body, DeclareFinal) else body.id

    @property
    def size(self) -> int:
        """Bytes, of a FRAME with all it carries."""
        return self.wire_size or len(bytes(self.message))

    def __repr__(self) -> str:
        return f"MessageSeen({self.packet}, {self.link.name}, {self.kind}, {self.key!r})"


class SessionChanged(TraceEvent):
    """A session began, opened or ended.

    `change` is `attempted` (the first INIT), `opened`, `joined` (a link more), `refused`,
    `closed`, `lost` (it ended without CLOSE), or `found` (it was there before the capture).
    For a multicast group: `found`, `joined` (a member more), `left`.
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


class Missing(TraceEvent):
    """Something that was sent and is not here.

    `kind` is `tcp_gap` and `truncated` (bytes), `resync` (bytes passed over to find the next
    batch), `sn_gap` (a count of sequence numbers), `fragment` (bytes of a message that stays
    incomplete). `count` and `bytes` are 0 where they are not known.
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

    def __repr__(self) -> str:
        return f"Missing({self.packet}, {self.link.name}, {self.kind}, {self.cause!r})"


class Undecoded(TraceEvent):
    """Bytes that are here and gave no message.

    `state` is `truncated`, `gap`, `encrypted`, `not_zenoh` or `malformed`. Of connections that
    are no Zenoh, the first one of each direction is told and the bytes are counted in the end.
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
