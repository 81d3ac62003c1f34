"""SessionWriter: the packets of a session between two nodes, written message by message.

It keeps the sequence numbers of both sides and frames, fragments and compresses as the handshake
agreed. It checks nothing: callers decide whether a message is legal.
"""

from __future__ import annotations

from typing import Any

from tests.rules.packet_recorder import Recorder, TcpConnection, UdpConnection
from zenlake.wire import Close, Fragment, Frame, Init, LinkState, LinkStateList, Oam, Open
from zenlake.wire.compression import compress_batch
from zenlake.wire.message import Message, NetworkMessage
from zenlake.wire.values.qos import PRIORITIES, QOS_BYTES, QoS
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

OPENER, ACCEPTOR = 0, 1
CONTROL = QOS_BYTES[0x08]
ROLES = {"client": WhatAmI.CLIENT, "peer": WhatAmI.PEER, "router": WhatAmI.ROUTER}
PAIRS = (
    ("client", "router"),
    ("client", "peer"),
    ("peer", "router"),
    ("peer", "peer"),
    ("router", "router"),
)
_OVERHEAD_BYTES = 24


class End:
    """One side of the session: its declarations and counters."""

    def __init__(self, zid: int, role: str, initial_sn: int) -> None:
        self.zid = ZenohId(zid.to_bytes(16, "little").rstrip(b"\0"))
        self.role = role
        self.initial_sn = initial_sn
        self.sns: dict[tuple[int, bool], int] = {}
        self.last_id = 0
        self.last_request = 0
        self.last_source_sn = 0
        self.aliases: dict[int, str] = {}
        self.entities: dict[tuple[str, int], str] = {}
        self.interests: dict[int, tuple[str, str]] = {}
        """The kind and the key asked for, by number."""
        self.state_sn = 0

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def next_request(self) -> int:
        self.last_request += 1
        return self.last_request


class SessionWriter:
    """One session. `options` fix what the seed would choose otherwise."""

    def __init__(self, recorder: Recorder, number: int = 1, **options: Any) -> None:
        self.recorder = recorder
        random = self.random = recorder.random
        self.protocol: str = options.get("protocol", "udp" if random.random() < 0.15 else "tcp")
        self.lowlatency: bool = options.get("lowlatency", random.random() < 0.15)
        self.qos: bool = options.get("qos", random.random() < 0.7) and not self.lowlatency
        self.compression: bool = (
            options.get("compression", random.random() < 0.15) and not self.lowlatency
        )
        self.patch: int = options.get("patch", random.choice((0, 1, 1, 1)))
        sn_bits = options.get("sn_bits", random.choice((8, 16, 32, 64)))
        self.resolution = Resolution.of(sn_bits, options.get("request_id_bits", 32))
        self.batch_size: int = options.get("batch_size", random.choice((300, 1_024, 9_000, 65_535)))
        if self.protocol == "udp":
            self.batch_size = min(self.batch_size, 9_000)
        pair = options.get("roles", random.choice(PAIRS))
        mask = self.resolution.sn_mask
        self.ends = tuple(
            End(random.getrandbits(random.choice((8, 64, 128))) | 1 << 5 + side, role, sn)
            for side, role, sn in zip(
                (0, 1), pair, (random.randint(0, mask), random.randint(0, mask)), strict=True
            )
        )
        if self.ends[0].zid == self.ends[1].zid:
            self.ends[1].zid = ZenohId(b"\x77\x77")
        self.cookie = random.randbytes(random.randrange(40))
        self.lease_s: int = options.get("lease_s", 10)
        self.connection = (UdpConnection if self.protocol == "udp" else TcpConnection)(
            recorder, number
        )
        self.is_open = False
        self.is_dead = False
        """Whether a fault has ended the session."""

    # --- handshake -------------------------------------------------------------------------

    def init(self, side: int, **changes: Any) -> Init:
        end = self.ends[side]
        values: dict[str, Any] = {
            "whatami": ROLES[end.role],
            "zid": end.zid,
            "resolution": self.resolution,
            "batch_size": self.batch_size,
            "cookie": self.cookie if side == ACCEPTOR else None,
            "qos": self.qos,
            "lowlatency": self.lowlatency,
            "compression": self.compression,
            "patch": self.patch or None,
        }
        return Init(**{**values, **changes})

    def open_message(self, side: int, **changes: Any) -> Open:
        cookie = self.cookie if side == OPENER else None
        sn = self.ends[side].initial_sn
        values = {"lease": self.lease_s, "initial_sn": sn, "seconds": True, "cookie": cookie}
        return Open(**{**values, **changes})

    def send_handshake(self, side: int, *messages: Message) -> int:
        """A batch of the handshake, without the options that it agrees on."""
        content = b"".join(map(bytes, messages))
        return self.connection.send(side, self._prefixed(content, 2))

    def open(
        self,
        syn: dict[str, Any] | None = None,
        ack: dict[str, Any] | None = None,
        open_syn: dict[str, Any] | None = None,
        open_ack: dict[str, Any] | None = None,
    ) -> list[int]:
        """The four messages, with the given changes; returns the packets that complete them."""
        packets = [
            self.send_handshake(OPENER, self.init(OPENER, **(syn or {}))),
            self.send_handshake(ACCEPTOR, self.init(ACCEPTOR, **(ack or {}))),
            self.send_handshake(OPENER, self.open_message(OPENER, **(open_syn or {}))),
            self.send_handshake(ACCEPTOR, self.open_message(ACCEPTOR, **(open_ack or {}))),
        ]
        self.is_open = True
        self.send_link_states()
        return packets

    def send_link_states(self) -> None:
        """The first messages of nodes other than clients."""
        if "client" not in (self.ends[0].role, self.ends[1].role):
            self.link_state(OPENER)
            self.link_state(ACCEPTOR)

    def close(self, side: int | None = None, reason: int = 0) -> int:
        side = self.random.randrange(2) if side is None else side
        packet = self.unit(side, bytes(Close(reason)))
        self.is_dead = True
        self.connection.end()
        return packet

    def cut(self) -> None:
        """The connection ends without CLOSE."""
        self.is_dead = True
        self.connection.end()

    # --- sending ---------------------------------------------------------------------------

    def _prefixed(self, content: bytes, size: int) -> bytes:
        return (
            len(content).to_bytes(size, "little") + content
            if self.connection.is_stream
            else content
        )

    def unit(self, side: int, content: bytes) -> int:
        """Send the bytes of a batch or of a low-latency unit."""
        if self.lowlatency:
            return self.connection.send(side, self._prefixed(content, 4))
        if self.compression:
            content = compress_batch(content)
        return self.connection.send(side, self._prefixed(content, 2))

    def raw(self, side: int, data: bytes) -> int:
        """Send the bytes of a unit unchanged; the caller compresses them if needed."""
        return self.connection.send(side, self._prefixed(data, 4 if self.lowlatency else 2))

    def next_sn(self, side: int, priority: int, reliable: bool, step: int = 1) -> int:
        end = self.ends[side]
        mask = self.resolution.sn_mask
        last = end.sns.get((priority, reliable), end.initial_sn - 1)
        sn = end.sns[priority, reliable] = (last + step) & mask
        return sn

    def channel(self, message: NetworkMessage) -> int:
        qos: QoS | None = message.qos  # type: ignore[attr-defined]  # all have it
        return int(qos.priority) if self.qos and qos is not None else 5

    def frame(
        self, side: int, messages: list[NetworkMessage], reliable: bool = True, **changes: Any
    ) -> Frame:
        priority = self.channel(messages[0]) if messages else 5
        qos = None if priority == 5 else PRIORITIES[priority]
        values = {"sn": 0, "messages": messages, "reliable": reliable, "qos": qos, **changes}
        if "sn" not in changes:
            values["sn"] = self.next_sn(side, priority, reliable)
        return Frame(**values)

    def send(self, side: int, *messages: NetworkMessage, reliable: bool = True) -> int:
        """Send messages, each in a batch of its own, or several of one channel in one FRAME."""
        packet = 0
        for message in messages:
            data = bytes(message)
            if self.lowlatency:
                packet = self.unit(side, data)
            elif len(data) + _OVERHEAD_BYTES > self.batch_size:
                packet = self.fragments(side, data, self.channel(message), reliable)
            else:
                packet = self.unit(side, bytes(self.frame(side, [message], reliable)))
        return packet

    def fragments(self, side: int, data: bytes, priority: int = 5, reliable: bool = True) -> int:
        """Send a message in as many fragments as it needs."""
        size = self.batch_size - _OVERHEAD_BYTES
        packet = 0
        for at in range(0, len(data), size):
            part = self.fragment(side, data[at : at + size], priority, reliable)
            part.more = at + size < len(data)
            part.first = at == 0 and self.patch > 0
            packet = self.unit(side, bytes(part))
        return packet

    def fragment(
        self, side: int, payload: bytes, priority: int = 5, reliable: bool = True, **values: Any
    ) -> Fragment:
        values.setdefault("sn", None)
        if values["sn"] is None:
            values["sn"] = self.next_sn(side, priority, reliable)
        qos = None if priority == 5 else PRIORITIES[priority]
        return Fragment(payload=payload, reliable=reliable, qos=qos, **values)

    def side(self) -> int:
        return self.random.randrange(2)

    def link_state(self, side: int | None = None) -> int:
        side = self.side() if side is None else side
        end = self.ends[side]
        end.state_sn += 1
        zid = ZenohId(b"\x09\x01")
        states = (
            LinkState(0, end.state_sn, (1,), zid=end.zid, whatami=ROLES[end.role]),
            LinkState(1, end.state_sn, (), zid=zid, whatami=WhatAmI.ROUTER),
        )
        return self.send(side, Oam(1, qos=CONTROL, body=bytes(LinkStateList(states))))
