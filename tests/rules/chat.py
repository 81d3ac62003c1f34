"""Chat: two nodes that keep to all rules, from a seed. Faults make them break one.

A chat sends what is legal at any time: it keeps sequence numbers, aliases, declarations, interests
and requests of both sides. `act` does one thing of many; what each writes gives no finding at
all, not even a note.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.wires import MILLISECOND, SECOND, Recorder, TcpWire, UdpWire
from zenlake.wire import (
    Close,
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Fragment,
    Frame,
    Init,
    Interest,
    KeepAlive,
    LinkState,
    LinkStateList,
    Oam,
    Open,
    Push,
    Put,
    Query,
    Reply,
    Request,
    Response,
    ResponseFinal,
    SourceInfo,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.compression import compress_batch
from zenlake.wire.message import Message, NetworkMessage
from zenlake.wire.values.choices import ConsolidationMode, InterestMode, QueryTarget
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import PRIORITIES, QOS_BYTES, QoS
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.timestamp import Timestamp, ntp64_of_ns
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

OPENER, ACCEPTOR = 0, 1
CONTROL = QOS_BYTES[0x08]
QUERY = QOS_BYTES[0x0D]
ROLES = {"client": WhatAmI.CLIENT, "peer": WhatAmI.PEER, "router": WhatAmI.ROUTER}
PAIRS = (
    ("client", "router"),
    ("client", "peer"),
    ("peer", "router"),
    ("peer", "peer"),
    ("router", "router"),
)
_RANK = {"client": 0, "peer": 1, "router": 2}
_ENTITIES = {
    "SUBSCRIBER": (DeclareSubscriber, UndeclareSubscriber),
    "QUERYABLE": (DeclareQueryable, UndeclareQueryable),
    "TOKEN": (DeclareToken, UndeclareToken),
}
_OVERHEAD_BYTES = 24


class End:
    """One side: what it has declared and counted."""

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
        """By number, the kind and the key asked for."""
        self.state_sn = 0

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def next_request(self) -> int:
        self.last_request += 1
        return self.last_request


class Chat:
    """A session. `options` fix what the seed would choose otherwise."""

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
        self.wire = (UdpWire if self.protocol == "udp" else TcpWire)(recorder, number)
        self.is_open = False
        self.is_dead = False
        """Whether a fault has ended it."""

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

    def greet(self, side: int, *messages: Message) -> int:
        """A batch as it is before the session is open."""
        content = b"".join(map(bytes, messages))
        return self.wire.send(side, self._prefixed(content, 2))

    def open(
        self,
        syn: dict[str, Any] | None = None,
        ack: dict[str, Any] | None = None,
        open_syn: dict[str, Any] | None = None,
        open_ack: dict[str, Any] | None = None,
    ) -> list[int]:
        """The four messages, with the given changes; returns the packets that complete them."""
        packets = [
            self.greet(OPENER, self.init(OPENER, **(syn or {}))),
            self.greet(ACCEPTOR, self.init(ACCEPTOR, **(ack or {}))),
            self.greet(OPENER, self.open_message(OPENER, **(open_syn or {}))),
            self.greet(ACCEPTOR, self.open_message(ACCEPTOR, **(open_ack or {}))),
        ]
        self.is_open = True
        self.introduce()
        return packets

    def introduce(self) -> None:
        """What nodes say first that are no clients."""
        if "client" not in (self.ends[0].role, self.ends[1].role):
            self.link_state(OPENER)
            self.link_state(ACCEPTOR)

    def close(self, side: int | None = None, reason: int = 0) -> int:
        side = self.random.randrange(2) if side is None else side
        packet = self.unit(side, bytes(Close(reason)))
        self.is_dead = True
        self.wire.end()
        return packet

    def cut(self) -> None:
        """The connection ends without CLOSE."""
        self.is_dead = True
        self.wire.end()

    # --- sending ---------------------------------------------------------------------------

    def _prefixed(self, content: bytes, size: int) -> bytes:
        return len(content).to_bytes(size, "little") + content if self.wire.is_stream else content

    def unit(self, side: int, content: bytes) -> int:
        """Bytes of a batch, or of a low-latency unit."""
        if self.lowlatency:
            return self.wire.send(side, self._prefixed(content, 4))
        if self.compression:
            content = compress_batch(content)
        return self.wire.send(side, self._prefixed(content, 2))

    def raw(self, side: int, data: bytes) -> int:
        """A unit as it is, compressed by the caller or not."""
        return self.wire.send(side, self._prefixed(data, 4 if self.lowlatency else 2))

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
        """Each in a FRAME of its own batch, or several of one channel together."""
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
        """A message in as many fragments as it needs."""
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

    # --- what may be said ------------------------------------------------------------------

    def side(self) -> int:
        return self.random.randrange(2)

    def goes_down(self, side: int) -> bool:
        return _RANK[self.ends[side].role] > _RANK[self.ends[1 - side].role]

    def asker(self) -> int | None:
        """A side that may send INTEREST and gets answers."""
        for side in (0, 1):
            if self.goes_down(1 - side):
                return side
        return None

    def key(self) -> str:
        chunks = ("demo", "robot", "a", "sensor", "x1", "état", "@v")
        return "/".join(self.random.choice(chunks) for _ in range(self.random.randint(1, 4)))

    def wire_key(self, side: int, key: str) -> WireExpr:
        """Whole, or by a number of either side."""
        for owner in self.random.sample((side, 1 - side), 2):
            for number, prefix in self.ends[owner].aliases.items():
                if key.startswith(prefix) and self.random.random() < 0.7:
                    return WireExpr(number, key[len(prefix) :], owner == side)
        return WireExpr(0, key)

    def declare(self, side: int, body: Any, interest_id: int | None = None) -> int:
        return self.send(side, Declare(body, interest_id, qos=CONTROL))

    def put_message(self, side: int, key: str | None = None, **changes: Any) -> Push:
        random = self.random
        values: dict[str, Any] = {"payload": random.randbytes(random.choice((0, 3, 40, 200)))}
        if random.random() < 0.3:
            values["encoding"] = Encoding(random.randint(1, 40), random.choice((None, b"s")))
        if random.random() < 0.3:
            values["timestamp"] = Timestamp(ntp64_of_ns(self.recorder.now_ns), self.ends[side].zid)
        if random.random() < 0.2:
            self.ends[side].last_source_sn += 1
            values["source_info"] = SourceInfo(
                self.ends[side].zid, 7, self.ends[side].last_source_sn
            )
        if random.random() < 0.2:
            values["attachment"] = b"att"
        values |= changes
        key = self.key() if key is None else key
        qos = random.choice((None, None, QOS_BYTES[0x09], QOS_BYTES[0x17], QOS_BYTES[0x21]))
        return Push(self.wire_key(side, key), Put(**values), qos=qos)

    # --- actions ---------------------------------------------------------------------------

    def act(self) -> None:
        """One of many things."""
        if self.is_dead:
            return
        self.recorder.wait(self.random.randrange(1, 30) * MILLISECOND)
        actions: list[Callable[[], Any]] = [
            self.put,
            self.put,
            self.delete,
            self.alias,
            self.entity,
            self.undeclare,
            self.query,
            self.keep_alive,
            self.interest,
            self.several,
        ]
        if not self.lowlatency:
            actions.append(self.large_put)
        if self.ends[0].role == self.ends[1].role == "router":
            actions.append(self.link_state)
        self.random.choice(actions)()

    def put(self, side: int | None = None, key: str | None = None) -> int:
        side = self.side() if side is None else side
        return self.send(side, self.put_message(side, key), reliable=self.random.random() < 0.8)

    def delete(self) -> int:
        side = self.side()
        return self.send(side, Push(self.wire_key(side, self.key()), Del()))

    def several(self) -> int:
        """Several messages of one channel in a FRAME, and two FRAMEs in a batch."""
        side = self.side()
        if self.lowlatency:
            return self.put(side)
        first = [Push(self.wire_key(side, self.key()), Put(b"1")) for _ in range(3)]
        second = [Push(WireExpr(0, self.key()), Put(b"2"))]
        both = [self.frame(side, list(first)), self.frame(side, list(second), reliable=False)]
        data = b"".join(map(bytes, both))
        return self.unit(side, data) if len(data) < self.batch_size - 8 else 0

    def large_put(self) -> int:
        side = self.side()
        size = min(3 * self.batch_size, 40_000)
        return self.send(side, Push(WireExpr(0, self.key()), Put(self.random.randbytes(size))))

    def keep_alive(self) -> int:
        return self.unit(self.side(), bytes(KeepAlive()))

    def alias(self, side: int | None = None) -> int:
        side = self.side() if side is None else side
        end = self.ends[side]
        if end.aliases and self.random.random() < 0.3:
            number = self.random.choice(list(end.aliases))
            del end.aliases[number]
            return self.declare(side, UndeclareKeyExpr(number))
        number = max([0, *end.aliases, *self.ends[1 - side].aliases]) + 1
        end.aliases[number] = self.key()
        return self.declare(side, DeclareKeyExpr(number, WireExpr(0, end.aliases[number])))

    def entity(self, side: int | None = None, kind: str | None = None) -> tuple[str, int] | None:
        """A declaration that needs no interest."""
        side = self.side() if side is None else side
        if self.goes_down(side):
            side = 1 - side
        end = self.ends[side]
        kind = self.random.choice(list(_ENTITIES)) if kind is None else kind
        number, key = end.next_id(), f"{self.key()}/**"
        end.entities[kind, number] = key
        self.declare(side, self.entity_message(side, kind, number, key))
        return kind, number

    def entity_message(self, side: int, kind: str, number: int, key: str) -> Any:
        wire_key = self.wire_key(side, key)
        if kind == "QUERYABLE":
            info = self.random.choice((None, QueryableInfo(True, 0), QueryableInfo(False, 3)))
            return DeclareQueryable(number, wire_key, info)
        return _ENTITIES[kind][0](number, wire_key)

    def undeclare(self) -> int:
        side = self.side()
        end = self.ends[side]
        if not end.entities:
            return 0
        kind, number = self.random.choice(list(end.entities))
        key = end.entities.pop((kind, number))
        return self.declare(side, self.undeclare_message(kind, number, key))

    def undeclare_message(self, kind: str, number: int, key: str) -> Any:
        return _ENTITIES[kind][1](number, UndeclaredKey(WireExpr(0, key)))

    def interest(self) -> None:
        side = self.asker()
        if side is None:
            return
        end = self.ends[side]
        if end.interests and self.random.random() < 0.4:
            number = self.random.choice(list(end.interests))
            del end.interests[number]
            self.send(side, Interest(InterestMode.FINAL, number, qos=CONTROL))
            return
        self.ask(side, InterestMode.CURRENT_FUTURE)

    def ask(
        self, side: int, mode: InterestMode, kind: str | None = None, answered: bool = True
    ) -> tuple[int, str, str, int]:
        """An interest with its answers; number, kind, key and the packet of the interest."""
        end, other = self.ends[side], 1 - side
        kind = self.random.choice(list(_ENTITIES)) if kind is None else kind
        number, key = end.next_id(), f"{self.key()}/i{end.last_id}"
        end.interests[number] = kind, key
        interest = Interest(mode, number, keyexprs=True, key=self.wire_key(side, key), qos=CONTROL)
        setattr(
            interest,
            {"SUBSCRIBER": "subscribers", "QUERYABLE": "queryables"}.get(kind, "tokens"),
            True,
        )
        packet = self.send(side, interest)
        if not answered:
            return number, kind, key, packet
        for _ in range(self.random.randrange(3)):
            id = self.ends[other].next_id()
            self.ends[other].entities[kind, id] = key
            self.declare(other, self.entity_message(other, kind, id, key), number)
        self.declare(other, DeclareFinal(), number)
        if mode == InterestMode.CURRENT:
            del end.interests[number]
        return number, kind, key, packet

    def request_message(self, side: int, key: str, **changes: Any) -> Request:
        random = self.random
        values: dict[str, Any] = {
            "request_id": self.ends[side].next_request(),
            "key": self.wire_key(side, key),
            "body": Query(
                random.choice((None, ConsolidationMode.LATEST, ConsolidationMode.NONE)),
                random.choice((None, "x=1;y=2")),
            ),
            "qos": QUERY,
            "timeout_ms": 10_000,
            "target": random.choice((None, QueryTarget.ALL)),
        }
        return Request(**{**values, **changes})

    def reply(self, side: int, request_id: int, key: str, **changes: Any) -> Response:
        body = Reply(self.random.choice((Put(b"value"), Del())))
        values = {"request_id": request_id, "key": WireExpr(0, key), "body": body, "qos": QUERY}
        return Response(**{**values, **changes})

    def query(self, side: int | None = None) -> tuple[int, int, str]:
        """A request, its replies and the final; the asking side, the number, the key."""
        side = self.side() if side is None else side
        key = self.key()
        request = self.request_message(side, key)
        number, other = request.request_id, 1 - side
        self.send(side, request)
        for _ in range(self.random.randrange(3)):
            self.send(other, self.reply(other, number, key))
            if self.random.random() < 0.3:
                self.put()
        self.final(other, number)
        return side, number, key

    def final(self, side: int, number: int) -> int:
        return self.send(side, ResponseFinal(number, qos=QUERY))

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

    def live(self, seconds: float, silent: tuple[int, ...] = ()) -> None:
        """Time passes; who is not silent keeps alive."""
        until_ns = self.recorder.now_ns + int(seconds * SECOND)
        while self.recorder.now_ns + 2 * SECOND < until_ns:
            self.recorder.wait(2 * SECOND)
            for side in (0, 1):
                if side not in silent:
                    self.unit(side, bytes(KeepAlive()))
        self.recorder.wait(max(until_ns - self.recorder.now_ns, 0))
