"""Link: one connection that carries Zenoh, and one batch that crossed it.

Direction 0 is from the end that is named first to the other, direction 1 the way back. On a
multicast group there is only direction 0, one link for each member that sends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zenlake.errors import WireError
from zenlake.wire.message import Message

if TYPE_CHECKING:
    from zenlake.trace.session import Session


class LinkEnd(NamedTuple):
    """What ended the first direction of a connection: the `fin` or `rst` of a side."""

    cause: str
    direction: int
    packet: int
    time_ns: int


class Link:
    """One connection, named `A:p-B:q#n` as the streams of TCP are."""

    __slots__ = (
        "end",
        "ended_ns",
        "ends",
        "form",
        "is_behind",
        "is_closed",
        "name",
        "opener",
        "protocol",
        "seen_start",
        "session",
        "sides",
    )

    def __init__(
        self, name: str, protocol: str, source: str, destination: str, seen_start: bool
    ) -> None:
        self.name = name
        self.protocol = protocol
        """`tcp`, `ws`, `udp`, `multicast` or `scouting`."""
        self.ends = (source, destination)
        self.seen_start = seen_start
        """Whether the capture has its beginning."""
        self.session: Session | None = None
        self.sides = (0, 1)
        """For each direction, the side of the session that sends: 0 opened the session."""
        self.opener = 0
        """The direction that sent INIT_SYN."""
        self.form: int | None = None
        """How its units are formed, where that was found out without a handshake."""
        self.is_closed = False
        self.is_behind = False
        """Whether one end got something that is not in the capture, or comes later in it."""
        self.end: LinkEnd | None = None
        """None while it is open, and where the capture ends first."""
        self.ended_ns = 0
        """When the first of its directions ended."""

    def sender(self, direction: int) -> str:
        return self.ends[direction]

    def receiver(self, direction: int) -> str:
        return self.ends[1 - direction]

    def __repr__(self) -> str:
        return f"Link({self.name}, {self.protocol})"


class LinkBatch:
    """One batch as it crossed a link, or the part of it that is in the capture.

    `state` is `ok`, `truncated` (cut by a snap length), `gap` (packets are missing) or
    `malformed`; `messages` is what came whole, whatever the state. `data` is the unit as
    captured, without its length and before decompression; `lost_bytes` of it are undecoded.
    """

    __slots__ = (
        "content",
        "data",
        "direction",
        "earlier_packets",
        "error",
        "form",
        "link",
        "lost_bytes",
        "messages",
        "packet",
        "state",
        "time_ns",
    )

    def __init__(
        self,
        link: Link,
        direction: int,
        packet: int,
        time_ns: int,
        data: bytes,
        messages: list[Message],
        state: str,
        error: WireError | None,
        lost_bytes: int,
        earlier_packets: tuple[int, ...] = (),
        content: bytes = b"",
        form: int = 0,
    ) -> None:
        self.link = link
        self.direction = direction
        self.packet = packet
        self.earlier_packets = earlier_packets
        """Those that carried its beginning, where it did not fit one."""
        self.time_ns = time_ns
        self.data = data
        self.messages = messages
        self.state = state
        self.error = error
        self.lost_bytes = lost_bytes
        self.content = content
        """After decompression; empty where that does not matter."""
        self.form = form
        """How it was read, as `links.units` has it."""

    def __repr__(self) -> str:
        size = len(self.data)
        return f"LinkBatch({self.link.name}, {self.direction}, {self.packet}, {size} bytes)"


class LinkClosed:
    """A link came to its end; `cause` is that of its stream, or `close` after a CLOSE.

    What is to be known about the link was told before.
    """

    __slots__ = ("cause", "link", "packet", "time_ns")

    def __init__(self, link: Link, packet: int, time_ns: int, cause: str) -> None:
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.cause = cause

    def __repr__(self) -> str:
        return f"LinkClosed({self.link.name}, {self.cause})"
