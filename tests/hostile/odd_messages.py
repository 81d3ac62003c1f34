"""A capture in which two nodes send odd messages: extreme values in every field.

The codec can write all of these messages; in some, bytes are replaced afterwards, so that keys are
not UTF-8 and flags are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

from tests.rules.group import SCOUTS, Group
from tests.rules.legal_session import LegalSession
from tests.rules.odd_keys import ODD_KEYS
from tests.rules.packet_recorder import Recorder, datagram
from zenlake.errors import ZenlakeError
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Encoding,
    Frame,
    Hello,
    Interest,
    InterestMode,
    LinkState,
    LinkStateList,
    Oam,
    Push,
    Put,
    QoS,
    Query,
    Reply,
    Request,
    Response,
    ResponseFinal,
    Scout,
    SourceInfo,
    Timestamp,
    UndeclaredKey,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
    ZenohId,
)
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.choices import ConsolidationMode, QueryTarget
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.whatami import WhatAmI, WhatAmIMatcher

T = TypeVar("T")
NUMBERS = (0, 1, 2, 127, 128, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)
TIMES = (0, 1, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, 0xFFFF_FFFF_FFFF_FFFF)
SCOPES = (0, 0, 0, 1, 2, 0xFFFF)
KEYS = (
    *ODD_KEYS,
    *("a/b", "a/*", "**", "@/x/**", "\0", "\x01\x1b[2J\x7f", "\u202e/x", "\ufeff", "a\nb/\r"),
    *(
        "@adv/sub/a/@/x",
        "@/liveliness/x",
        "0/chatter/std_msgs::msg::dds_::String_/RIHS01_",
        "x;y?z",
    ),
    *("@ros2_lv/0/aa/0/0/NN/%/%/x", "k" * 65_000, "/".join("a" * 2_000)),
)
TEXTS = (None, b"", b"\0", b"\xff\xfe", b"a=b;c", b";;==", b"_time=[now();1h]", b"x" * 70_000)
ZIDS = (b"\x01", b"\xff" * 16, b"\0\1", b"\x20" * 8)
LOCATORS = ("tcp/10.0.0.1:7447", "tcp/[::1]:0", "udp/é:1", "x/" + "y" * 200, "tcp/PLACEPLACE")
PLACE = b"PLACEPLACE"
ODD_BYTES = (
    b"\xff" * 10,
    b"\0" * 10,
    b"\xc3\x28" * 5,
    b"\xed\xa0\x80/\xed\xb0\x80//\n",
    b"a/\x80\x80\x80/b/c",
)


class OddMessages:
    """Draws messages of all kinds with extreme fields."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._makers: tuple[Callable[[], NetworkMessage], ...] = (
            self._push,
            self._request,
            self._response,
            self._response_final,
            self._declare,
            self._declare,
            self._interest,
            self._link_states,
        )

    def draw(self) -> bytes:
        """An encoded message; in one of four, some bytes are replaced."""
        while True:
            try:
                data = bytes(self.random.choice(self._makers)())
            except (ZenlakeError, ValueError):
                continue  # the codec refuses this value
            return self._odd_bytes(data)

    def _odd_bytes(self, data: bytes) -> bytes:
        data = data.replace(PLACE, self.random.choice(ODD_BYTES))
        if self.random.random() < 0.75:
            return data
        changed = bytearray(data[:2_000])
        for _ in range(self.random.randint(1, 3)):
            changed[self.random.randrange(len(changed))] = self.random.choice(
                (0, 1, 0x7F, 0x80, 0xFF, self.random.randrange(256))
            )
        return bytes(changed)

    def _number(self) -> int:
        return self.random.choice(NUMBERS)

    def _key(self) -> WireExpr:
        random = self.random
        suffix = PLACE.decode() if random.random() < 0.1 else random.choice(KEYS)
        return WireExpr(random.choice(SCOPES), suffix, random.random() < 0.7)

    def _zid(self) -> ZenohId:
        return ZenohId(self.random.choice(ZIDS))

    def _maybe(self, value: T) -> T | None:
        return value if self.random.random() < 0.5 else None

    def _timestamp(self) -> Timestamp | None:
        return self._maybe(Timestamp(self.random.choice(TIMES), self._zid()))

    def _source(self) -> SourceInfo | None:
        return self._maybe(SourceInfo(self._zid(), self._number(), self._number()))

    def _encoding(self) -> Encoding | None:
        schema = self.random.choice(TEXTS[:6])
        return self._maybe(Encoding(self.random.choice((0, 1, 53, 0xFFFF)), schema))

    def _sample(self) -> Put | Del:
        if self.random.random() < 0.3:
            return Del(self._timestamp(), source_info=self._source())
        payload = self.random.choice(TEXTS[1:])
        return Put(
            payload or b"",
            self._timestamp(),
            encoding=self._encoding(),
            source_info=self._source(),
            attachment=self.random.choice(TEXTS),
        )

    def _qos(self) -> QoS | None:
        return self._maybe(QoS(self.random.randrange(64)))

    def _push(self) -> NetworkMessage:
        return Push(self._key(), self._sample(), qos=self._qos(), timestamp=self._timestamp())

    def _request(self) -> NetworkMessage:
        random = self.random
        query = Query(
            random.choice(list(ConsolidationMode)),
            random.choice((None, "", "a=b;;c", PLACE.decode(), "\0", "x" * 70_000)),
            source_info=self._source(),
            attachment=random.choice(TEXTS),
        )
        request = Request(self._number(), self._key(), query, qos=self._qos())
        request.target = random.choice(list(QueryTarget))
        request.timeout_ms = self._maybe(random.choice(TIMES))
        request.budget = self._maybe(self._number())
        request.timestamp = self._timestamp()
        return request

    def _response(self) -> NetworkMessage:
        return Response(self._number(), self._key(), Reply(self._sample()), qos=self._qos())

    def _response_final(self) -> NetworkMessage:
        return ResponseFinal(self._number())

    def _declare(self) -> NetworkMessage:
        random, number, key = self.random, self._number(), self._key()
        info = QueryableInfo(random.random() < 0.5, random.choice((0, 1, 0xFFFF)))
        bodies: tuple[Callable[[], Any], ...] = (
            lambda: DeclareKeyExpr(number & 0xFFFF, key),
            lambda: DeclareSubscriber(number, key),
            lambda: DeclareQueryable(number, key, info),
            lambda: DeclareToken(number, key),
            lambda: UndeclareToken(number, UndeclaredKey(key)),
            lambda: UndeclareSubscriber(number, UndeclaredKey(key)),
            DeclareFinal,
        )
        return Declare(random.choice(bodies)(), self._maybe(number), timestamp=self._timestamp())

    def _interest(self) -> NetworkMessage:
        random = self.random
        interest = Interest(random.choice(list(InterestMode)), self._number())
        if interest.mode == InterestMode.FINAL:
            return interest
        interest.key = self._maybe(self._key())
        interest.subscribers = random.random() < 0.5
        interest.queryables = random.random() < 0.5
        interest.tokens = random.random() < 0.5
        interest.keyexprs = random.random() < 0.5
        interest.aggregate = random.random() < 0.5
        return interest

    def _link_states(self) -> NetworkMessage:
        random = self.random
        states = tuple(
            LinkState(
                self._number(),
                random.choice(TIMES),
                tuple(self._number() for _ in range(random.randrange(4))),
                zid=self._maybe(self._zid()),
                whatami=self._maybe(WhatAmI.ROUTER),
                locators=self._maybe(self.locators()),
            )
            for _ in range(random.randrange(4))
        )
        return Oam(random.choice((1, 1, 1, 0, 0xFFFF)), body=bytes(LinkStateList(states)))

    def locators(self) -> tuple[str, ...]:
        return tuple(self.random.choice(LOCATORS) for _ in range(self.random.randrange(4)))

    def scouting(self) -> bytes:
        if self.random.random() < 0.3:
            data = bytes(Scout(WhatAmIMatcher(7), self.random.choice((0, 9, 255)), self._zid()))
        else:
            data = bytes(Hello(WhatAmI.PEER, self._zid(), locators=self.locators()))
        return self._odd_bytes(data)


class OddCapture(NamedTuple):
    path: Path
    ordinary: int
    """Publications on `ordinary/...`: one on the same side after each odd message."""


def write_odd_capture(path: Path, seed: int, count: int, times: Sequence[int] = ()) -> OddCapture:
    """Writes `count` odd messages, in sessions of twenty.

    With `times`, the clock of the capture jumps to one of them now and then.
    """
    recorder = Recorder(seed)
    odd = OddMessages(recorder.random)
    group = Group(recorder)
    ordinary = 0
    for number in range(count // 20):
        session = LegalSession(
            recorder, number, protocol="tcp", batch_size=65_535, sn_bits=32, lowlatency=False
        )
        session.open(**(_odd_handshake(recorder.random) if number % 2 else {}))
        for _ in range(20):
            side = session.side()
            _send_raw(session, side, odd.draw())
            ordinary += 1
            session.send(side, Push(WireExpr(0, f"ordinary/{ordinary}"), Put(b"x")))
        session.close()
        datagram(recorder, "10.0.3.1:40000", SCOUTS, odd.scouting())
        group.join(0, lease=recorder.random.choice((0, 1, (1 << 64) - 1)))
        group.send(0, Push(WireExpr(0, recorder.random.choice(KEYS[:20])), Put(b"y")))
    for packet in recorder.packets if times else ():
        if recorder.random.random() < 0.2:
            packet.time_ns = recorder.random.choice(times)
    recorder.write(path)
    return OddCapture(path, ordinary)


def _odd_handshake(random: Random) -> dict[str, Any]:
    """Leases and sizes at their extremes, which do not change how later messages are read."""
    leases = (0, 1, (1 << 64) - 1)
    return {
        "syn": {"batch_size": random.choice((0, 1, 0xFFFF))},
        "open_syn": {"lease": random.choice(leases), "seconds": random.random() < 0.5},
        "open_ack": {"lease": random.choice(leases)},
    }


def _send_raw(session: LegalSession, side: int, data: bytes) -> None:
    """Sends bytes in a batch of their own, so that undecodable ones cost no other message."""
    if len(data) < 60_000:
        session.unit(side, bytes(Frame(session.next_sn(side, 5, True), [])) + data)
    else:
        session.fragments(side, data)
