"""Session: two nodes while they are connected, as the capture shows them; or a multicast group."""

from __future__ import annotations

from zenlake.limits import TRACE_KEY_BYTES_MAX
from zenlake.trace.channel import UNKNOWN, Channel
from zenlake.trace.link import Link
from zenlake.wire import Init, Join, Open
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES
from zenlake.wire.values.choices import CloseReason
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION


class KeyMemory:
    """How many bytes the keys take that all nodes declared."""

    __slots__ = ("bytes", "bytes_max")

    def __init__(self, bytes_max: int = TRACE_KEY_BYTES_MAX) -> None:
        self.bytes = 0
        self.bytes_max = bytes_max

    def keep(self, node: Node, key: str | None) -> str | None:
        """The key, or None where there is no more room for any: better unknown than too much."""
        if key is None or self.bytes + len(key) > self.bytes_max:
            return None
        self.bytes += len(key)
        node.key_bytes += len(key)
        return key


class Node:
    """One side of a session: who it is, and what it told about itself."""

    __slots__ = (
        "address",
        "aliases",
        "channels",
        "entities",
        "initial_sn",
        "interests",
        "is_lossy",
        "key_bytes",
        "last_seen_ns",
        "last_seen_open_ns",
        "lease_ms",
        "newest_sn",
        "reuses",
        "role",
        "zid",
    )

    def __init__(self, address: str, zid: str | None = None, role: str | None = None) -> None:
        self.address = address
        self.zid = zid
        """As Zenoh prints it; None where it was not told."""
        self.role = role
        """`router`, `peer` or `client`."""
        self.lease_ms: int | None = None
        self.initial_sn: int | None = None
        self.aliases: dict[int, str | None] = {}
        """Key expressions by the numbers this node declared; None where one is not known."""
        self.reuses = False
        """Whether it takes numbers back and gives them out again."""
        self.is_lossy = False
        """Whether something it sent is missing, undeclarations perhaps."""
        self.entities: dict[tuple[str, int], str | None] = {}
        """Keys of what it declared, by the last part of the kind and the number."""
        self.interests: dict[int, bool] = {}
        """By number, whether it asked only for what is there now; the newest ones."""
        self.key_bytes = 0
        """Of all keys it declared."""
        self.last_seen_ns = 0
        self.last_seen_open_ns = 0
        """The same, before its connection began to end: a frozen node may wake up after that."""
        self.newest_sn = UNKNOWN
        """Of all channels, the sequence number that came last."""
        self.channels: dict[int, Channel] = {}
        """By priority and reliability, what this node sends."""

    def forget(self) -> int:
        """Nothing more comes from it. How many bytes of keys it had."""
        self.aliases = {}
        self.entities = {}
        self.interests = {}
        self.channels = {}
        freed, self.key_bytes = self.key_bytes, 0
        return freed

    def identify(self, message: Init | Join) -> None:
        self.zid = str(message.zid)
        self.role = str(message.whatami)

    def __repr__(self) -> str:
        return f"Node({self.address}, {self.zid}, {self.role})"


class Session:
    """What is known of one session; it changes while the capture is read.

    `nodes[0]` opened it. `outcome` is `open`, `closed`, `refused`, `lost`, or `partial` where
    the capture does not have its beginning. A multicast group has its members in `members`.
    """

    __slots__ = (
        "auth",
        "batch_size",
        "close_reason",
        "closed_ns",
        "compression",
        "end_packet",
        "ended_by",
        "ender",
        "id",
        "is_multicast",
        "is_open",
        "links",
        "lowlatency",
        "mask",
        "members",
        "multilink",
        "nodes",
        "opened_ns",
        "outcome",
        "patch",
        "qos",
        "seen_start",
        "silent_ms",
        "sn_bits",
        "started_ns",
        "step",
        "version",
    )

    def __init__(self, id: str, link: Link, time_ns: int, seen_start: bool) -> None:
        self.id = id
        """The name of its first link, or the address of the group."""
        self.links = [link]
        self.started_ns = time_ns
        self.seen_start = seen_start
        self.nodes = (Node(link.ends[0]), Node(link.ends[1]))
        self.members: dict[str, Node] = {}
        self.is_multicast = False
        self.is_open = False
        self.opened_ns: int | None = None
        self.closed_ns: int | None = None
        self.outcome = "refused" if seen_start else "partial"
        self.close_reason: str | None = None
        self.qos: bool | None = None
        self.compression: bool | None = None
        self.lowlatency: bool | None = None
        self.patch: int | None = None
        self.sn_bits: int | None = None
        self.mask = 0
        """Of sequence numbers; 0 where it is not known."""
        self.batch_size: int | None = None
        self.multilink = False
        self.step: str | None = None
        """The last message of the handshake that was seen; None where it came before."""
        self.version: int | None = None
        """Of the protocol, that INIT_SYN asks for."""
        self.auth: dict[str, bool] = {}
        """By message of the handshake, whether it carries authentication."""
        self.ended_by: str | None = None
        """`close`, `fin`, `rst`, `lease`, `again` (the same nodes connected again); None: open."""
        self.ender: Node | None = None
        """Who sent CLOSE, FIN or RST."""
        self.end_packet: int | None = None
        self.silent_ms: tuple[float | None, float | None] = (None, None)
        """For how long each side had sent nothing when it ended."""

    def end_with(self, cause: str, ender: Node | None, packet: int | None) -> None:
        """What ended it; the first one counts."""
        if self.ended_by is None:
            self.ended_by, self.ender, self.end_packet = cause, ender, packet

    def note_silence(self, time_ns: int) -> None:
        one, other = (
            (time_ns - node.last_seen_open_ns) / 1e6 if node.last_seen_open_ns else None
            for node in self.nodes
        )
        self.silent_ms = (one, other)

    def agree(self, ack: Init) -> None:
        """The terms INIT_ACK settles (wire reference §14)."""
        self.qos = ack.qos or ack.qos_link is not None
        self.compression = ack.compression
        self.lowlatency = ack.lowlatency
        self.multilink = ack.multilink is not None
        self.patch = ack.patch or 0
        resolution = ack.resolution or DEFAULT_RESOLUTION
        self.sn_bits, self.mask = resolution.sn_bits, resolution.sn_mask
        self.batch_size = DEFAULT_BATCH_BYTES if ack.batch_size is None else ack.batch_size

    def __repr__(self) -> str:
        return f"Session({self.id}, {self.nodes[0].zid} to {self.nodes[1].zid}, {self.outcome})"


def lease_ms(message: Open | Join) -> int:
    return message.lease * 1000 if message.seconds else message.lease


def close_reason(code: int) -> str:
    return str(CloseReason(code)) if code < len(CloseReason) else f"unknown({code})"
