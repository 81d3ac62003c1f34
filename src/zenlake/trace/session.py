"""Session: two connected nodes, or a multicast group, as far as the capture shows them."""

from __future__ import annotations

from zenlake.limits import TRACE_KEY_BYTES_MAX
from zenlake.trace.channel import UNKNOWN, Channel
from zenlake.trace.link import Link
from zenlake.wire import Init, Join, Open
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES
from zenlake.wire.values.choices import CloseReason
from zenlake.wire.values.lease import lease_in_ms
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION


class KeyMemory:
    """A budget for the keys that all nodes declared."""

    __slots__ = ("bytes", "bytes_max")

    def __init__(self, bytes_max: int = TRACE_KEY_BYTES_MAX) -> None:
        self.bytes = 0
        self.bytes_max = bytes_max

    def keep(self, node: Node, key: str | None) -> str | None:
        """The key, or None if the budget is used up: the key is unknown then."""
        if key is None or self.bytes + len(key) > self.bytes_max:
            return None
        self.bytes += len(key)
        node.key_bytes += len(key)
        return key


class Node:
    """One side of a session: its identity, parameters, declarations and channels."""

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
        """The id as Zenoh prints it; None if the capture does not show it."""
        self.role = role
        """`router`, `peer` or `client`."""
        self.lease_ms: int | None = None
        self.initial_sn: int | None = None
        self.aliases: dict[int, str | None] = {}
        """Key expressions by the aliases that this node declared; None if one is not known."""
        self.reuses = False
        """Whether the node undeclares aliases, so that it may reuse their numbers."""
        self.is_lossy = False
        """Whether the capture lacks data that the node sent, possibly undeclarations."""
        self.entities: dict[tuple[str, int], str | None] = {}
        """Keys of the node's entities, by the last part of the kind and the id."""
        self.interests: dict[int, bool] = {}
        """Whether an interest has mode CURRENT, by its id; only the newest interests are kept."""
        self.key_bytes = 0
        """The size of all keys that the node declared."""
        self.last_seen_ns = 0
        self.last_seen_open_ns = 0
        """The time of its last message before the connection began to end; it may resume later."""
        self.newest_sn = UNKNOWN
        """The last sequence number of any channel."""
        self.channels: dict[int, Channel] = {}
        """The channels on which the node sends, by `channel_key`."""

    def forget(self) -> int:
        """Drops the state of the node after its last message; returns the size of its keys."""
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
    """The state of one session; it changes while the capture is read.

    `nodes[0]` opened it. `outcome` is `open`, `closed`, `refused`, `lost`, or `partial` if the
    capture lacks its beginning. A multicast group has its members in `members`.
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
        """The name of the first link, or the address of the group."""
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
        """The mask of sequence numbers; 0 if it is not known."""
        self.batch_size: int | None = None
        self.multilink = False
        self.step: str | None = None
        """The last handshake message in the capture; None if the handshake precedes the capture."""
        self.version: int | None = None
        """The protocol version in INIT_SYN."""
        self.auth: dict[str, bool] = {}
        """Whether each handshake message carries authentication."""
        self.ended_by: str | None = None
        """`close`, `fin`, `rst`, `lease`, `again` (the same nodes connected again); None: open."""
        self.ender: Node | None = None
        """The node that sent CLOSE, FIN or RST."""
        self.end_packet: int | None = None
        self.silent_ms: tuple[float | None, float | None] = (None, None)
        """How long each side had been silent when the session ended."""

    def note_end(self, cause: str, ender: Node | None, packet: int | None) -> None:
        """Records what ended the session; only the first call counts."""
        if self.ended_by is None:
            self.ended_by, self.ender, self.end_packet = cause, ender, packet

    def note_silence(self, time_ns: int) -> None:
        one, other = (
            (time_ns - node.last_seen_open_ns) / 1e6 if node.last_seen_open_ns else None
            for node in self.nodes
        )
        self.silent_ms = (one, other)

    def agree(self, ack: Init) -> None:
        """Applies the terms in INIT_ACK (wire reference §14)."""
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
    return lease_in_ms(message.lease, message.seconds)


def close_reason(code: int) -> str:
    return str(CloseReason(code)) if code < len(CloseReason) else f"unknown({code})"
