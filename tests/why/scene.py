"""Scene: traffic that no healthy node sends, written by our encoder as a capture."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.capture.headers import A, B, ethernet, ipv4, packet, udp
from tests.capture.tcp_packets import TcpPackets
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.capture.transport import ACK, FIN, SYN
from zenlake.wire import (
    Close,
    Declare,
    DeclareFinal,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Fragment,
    Frame,
    Init,
    Interest,
    Open,
    Push,
    Put,
    Query,
    Reply,
    Request,
    ResponderId,
    Response,
    ResponseFinal,
    UndeclareToken,
)
from zenlake.wire.batch import encode_messages
from zenlake.wire.framing import frame_batch
from zenlake.wire.message import Message, NetworkMessage
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

_START_NS = 1_700_000_000_000_000_000
ROUTER = "aa00000000000000000000000000000a"


class Scene:
    """Packets in order, a millisecond apart unless `wait` is called."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._writer = PcapngWriter(self._file)
        self.packet = 0
        self._now_ns = _START_NS

    def wait(self, seconds: float) -> None:
        self._now_ns += int(seconds * 1e9)

    def write(self, frame: bytes) -> int:
        """Append a packet; returns its number."""
        self.packet += 1
        self._now_ns += 1_000_000
        self._writer.write(packet(frame, 1, self.packet, self._now_ns))
        return self.packet

    def close(self) -> None:
        self._file.close()


@dataclass
class Connection:
    """A client, or peer, and its session with the router; `up` goes to the router."""

    scene: Scene
    zid: str
    port: int
    role: WhatAmI = WhatAmI.CLIENT
    over_udp: bool = False
    sn: list[int] = field(default_factory=lambda: [1000, 5000])

    def __post_init__(self) -> None:
        self._packets = TcpPackets((self.port, 7447), first_seqs=(1, 1))

    def open(self) -> None:
        if not self.over_udp:
            self._segment(0, b"", SYN)
            self._segment(1, b"", SYN | ACK)
            self._segment(0, b"", ACK)
        router = ZenohId.parse(ROUTER)
        me = ZenohId.parse(self.zid)
        terms: dict[str, Any] = {
            "qos": True,
            "patch": 1,
            "resolution": Resolution(),
            "batch_size": 49152,
        }
        self.raw(0, Init(self.role, me, **terms))
        self.raw(1, Init(WhatAmI.ROUTER, router, cookie=b"c" * 8, **terms))
        self.raw(0, Open(10, self.sn[0], seconds=True, cookie=b"c" * 8))
        self.raw(1, Open(10, self.sn[1], seconds=True))

    def up(self, *messages: NetworkMessage, reliable: bool = True) -> int:
        return self._frame(0, list(messages), reliable)

    def down(self, *messages: NetworkMessage, reliable: bool = True) -> int:
        return self._frame(1, list(messages), reliable)

    def skip(self, direction: int, count: int) -> None:
        """Skip sequence numbers, as if frames were lost."""
        self.sn[direction] += count

    def _frame(self, direction: int, messages: list[NetworkMessage], reliable: bool) -> int:
        self.sn[direction] += 1
        return self.raw(direction, Frame(self.sn[direction] - 1, messages, reliable))

    def fragments(self, direction: int, message: NetworkMessage, sizes: list[int]) -> list[int]:
        """Send the first fragments of a message; it is complete only if the sizes add up to it."""
        data, packets, start = bytes(message), [], 0
        for number, size in enumerate(sizes):
            piece = data[start : start + size]
            start += size
            more = start < len(data)
            self.sn[direction] += 1
            sent = Fragment(self.sn[direction] - 1, piece, more=more, first=number == 0)
            packets.append(self.raw(direction, sent))
        return packets

    def give_up(self, direction: int) -> int:
        """Send a fragment that drops the rest of the message."""
        self.sn[direction] += 1
        return self.raw(direction, Fragment(self.sn[direction] - 1, b"", more=True, drop=True))

    def raw(self, direction: int, message: Message) -> int:
        content = encode_messages([message])
        if self.over_udp:
            return self._datagram(direction, content)
        return self._segment(direction, frame_batch(content), ACK)

    def end(self, close: bool = False) -> None:
        """The connection ends, with CLOSE or without."""
        if close:
            self.raw(0, Close(0))
        if not self.over_udp:
            self._segment(0, b"", FIN | ACK)
            self._segment(1, b"", FIN | ACK)

    def _datagram(self, direction: int, content: bytes) -> int:
        ends, ports = (A, B), (self.port, 7447)
        if direction == 1:
            ends, ports = ends[::-1], ports[::-1]
        return self.scene.write(ethernet(ipv4(udp(content, ports), 17, *ends)))

    def _segment(self, direction: int, data: bytes, flags: int) -> int:
        return self.scene.write(ethernet(self._packets.packet(direction, data, flags)))


def key(text: str) -> WireExpr:
    return WireExpr(0, text)


def subscriber(number: int, text: str) -> Declare:
    return Declare(DeclareSubscriber(number, key(text)))


def queryable(number: int, text: str) -> Declare:
    return Declare(DeclareQueryable(number, key(text)))


def token(number: int, text: str, interest_id: int | None = None) -> Declare:
    return Declare(DeclareToken(number, key(text)), interest_id=interest_id)


def no_token(number: int) -> Declare:
    return Declare(UndeclareToken(number))


def all_announced(interest_id: int) -> Declare:
    return Declare(DeclareFinal(), interest_id=interest_id)


def watch_tokens(number: int, text: str) -> Interest:
    return Interest(InterestMode.CURRENT_FUTURE, number, keyexprs=True, tokens=True, key=key(text))


def put(text: str, payload: bytes) -> Push:
    return Push(key(text), Put(payload))


def request(number: int, text: str, timeout_ms: int = 1_000) -> Request:
    return Request(number, key(text), Query(), timeout_ms=timeout_ms)


def reply(number: int, text: str, payload: bytes, zid: str) -> Response:
    return Response(
        number, key(text), Reply(Put(payload)), responder=ResponderId(ZenohId.parse(zid), 1)
    )


def final(number: int) -> ResponseFinal:
    return ResponseFinal(number)
