"""Link: one connection that carries Zenoh; LinkBatch: one batch on it.

Direction 0 is from the address that the name lists first, direction 1 is the reverse. A multicast
group has one link for each member that sends, with direction 0 only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zenlake.errors import WireError
from zenlake.wire.message import Message

if TYPE_CHECKING:
    from zenlake.trace.session import Session


class LinkEnd(NamedTuple):
    """The `fin` or `rst` that ended the first direction of a connection."""

    cause: str
    direction: int
    packet: int
    time_ns: int


class Link:
    """One connection, named `A:p-B:q#n` as TCP streams are."""

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
        """Whether the capture has the first packet of the connection."""
        self.session: Session | None = None
        self.sides = (0, 1)
        """The side of the session that sends in each direction: 0 opened the session."""
        self.opener = 0
        """The direction that sent INIT_SYN."""
        self.form: int | None = None
        """The form of the units (`links.units`), if it was guessed without a handshake."""
        self.is_closed = False
        self.is_behind = False
        """Whether a side received bytes that the capture lacks or has only later."""
        self.end: LinkEnd | None = None
        """The cause of the end; None while the link is open, or if the capture ends first."""
        self.ended_ns = 0
        """When the first direction ended."""

    def sender(self, direction: int) -> str:
        return self.ends[direction]

    def receiver(self, direction: int) -> str:
        return self.ends[1 - direction]

    def __repr__(self) -> str:
        return f"Link({self.name}, {self.protocol})"


class LinkBatch:
    """One batch on a link, or the part of it that was captured.

    `state` is `ok`, `truncated` (cut by a snap length), `gap` (packets are missing) or
    `malformed`; `messages` has the complete messages, whatever the state. `data` is the unit as
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
        """The packets with the beginning of the batch, if it came in several."""
        self.time_ns = time_ns
        self.data = data
        self.messages = messages
        self.state = state
        self.error = error
        self.lost_bytes = lost_bytes
        self.content = content
        """The unit after decompression; empty if it was not read."""
        self.form = form
        """The form in which the unit was read, one of `links.units`."""

    def __repr__(self) -> str:
        size = len(self.data)
        return f"LinkBatch({self.link.name}, {self.direction}, {self.packet}, {size} bytes)"


class LinkClosed:
    """A link ended; `cause` is that of its stream, or `close` after a CLOSE.

    It is the last event of the link.
    """

    __slots__ = ("cause", "link", "packet", "time_ns")

    def __init__(self, link: Link, packet: int, time_ns: int, cause: str) -> None:
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.cause = cause

    def __repr__(self) -> str:
        return f"LinkClosed({self.link.name}, {self.cause})"
