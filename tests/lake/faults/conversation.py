"""Conversation: a client and a router on one connection, written with zenlake's encoder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from struct import pack

from tests.capture.built_files import interface, packet_block, section
from tests.capture.headers import A, B, ethernet, ipv4, tcp
from zenlake.wire import (
    Fragment,
    Frame,
    Init,
    NetworkMessage,
    Open,
    Resolution,
    TransportMessage,
    WhatAmI,
    ZenohId,
)
from zenlake.wire.batch import encode_messages

CLIENT, ROUTER = 0, 1
PORTS = (40_000, 7_447)
START_US = 1_700_000_000_000_000
SEGMENT_BYTES = 32_000
FRAGMENT_BYTES = 65_000
ALL_64_BITS = Resolution(0x0F)
_SYN, _ACK = 0x02, 0x10
_COOKIE = b"cookie"


class Conversation:
    """Packets are a millisecond apart, unless `time_us` is set."""

    def __init__(self, lease_s: int = 10) -> None:
        self.time_us = START_US
        self.blocks = [section(), interface()]
        self._seq = [1_000, 5_000]
        self._sn = 0
        self._packet(CLIENT, _SYN, b"")
        self._packet(ROUTER, _SYN | _ACK, b"")
        for side in (CLIENT, ROUTER):
            self._seq[side] += 1
        client, router = ZenohId(b"\x0c"), ZenohId(b"\x0a")
        agreed = {"resolution": ALL_64_BITS, "batch_size": 65_535}
        self.say(CLIENT, Init(WhatAmI.CLIENT, client, **agreed))  # type: ignore[arg-type]  # ours
        cookie = {**agreed, "cookie": _COOKIE}
        self.say(ROUTER, Init(WhatAmI.ROUTER, router, **cookie))  # type: ignore[arg-type]  # ours
        self.say(CLIENT, Open(lease_s, 0, seconds=True, cookie=_COOKIE))
        self.say(ROUTER, Open(lease_s, 0, seconds=True))

    def say(self, side: int, *messages: TransportMessage) -> None:
        """Sends one batch."""
        content = encode_messages([*messages])
        data = pack("<H", len(content)) + content
        for start in range(0, len(data), SEGMENT_BYTES):
            self._packet(side, _ACK, data[start : start + SEGMENT_BYTES])

    def send(self, *messages: NetworkMessage) -> None:
        """Sends messages of the client in one FRAME."""
        self.say(CLIENT, Frame(self._next(), [*messages]))

    def send_in_fragments(self, message: NetworkMessage) -> None:
        content = encode_messages([message])
        for start in range(0, len(content), FRAGMENT_BYTES):
            end = start + FRAGMENT_BYTES
            part, more = content[start:end], end < len(content)
            self.say(CLIENT, Fragment(self._next(), part, more=more))

    def _next(self) -> int:
        self._sn += 1
        return self._sn - 1

    def _packet(self, side: int, flags: int, data: bytes) -> None:
        there, back = (A, B) if side == CLIENT else (B, A)
        ports = PORTS if side == CLIENT else PORTS[::-1]
        ack = self._seq[1 - side] if flags & _ACK else 0
        segment = tcp(data, self._seq[side] & 0xFFFF_FFFF, ack & 0xFFFF_FFFF, flags, ports)
        frame = ethernet(ipv4(segment, 6, there, back))
        self.blocks.append(packet_block(frame, self.time_us))
        self.time_us += 1_000
        self._seq[side] += len(data)


def store(path: Path, blocks: Iterable[bytes]) -> str:
    with path.open("wb") as file:
        file.writelines(blocks)
    return str(path)
