"""Publications with numbers: what was sent, and what readers of a recording find."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from zenlake import trace
from zenlake.capture.recordings import segments
from zenlake.capture.segment_format import WIRE
from zenlake.protocol.tap import LinkTap
from zenlake.recording.segment_scan import blocks
from zenlake.trace import MessageSeen
from zenlake.trace.events import Missing
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Frame,
    Init,
    Open,
    Push,
    Put,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.framing import frame_batch
from zenlake.wire.message import NetworkMessage

OWN, OTHER = "tcp/127.0.0.1:7447", "tcp/127.0.0.1:40000"
PACKET = 6


class Opens(Protocol):
    def open(self, src: str, dst: str, is_stream: bool, is_accepted: bool) -> LinkTap: ...


class Peer:
    """The other side of a link of a recording node."""

    def __init__(self, recorder: Opens, other: str = OTHER) -> None:
        self.tap = recorder.open(OWN, other, True, True)
        self.sn = 10
        self.tap.received(bytes(Init(WhatAmI.CLIENT, ZenohId(b"\x01"))), False)
        ack = Init(WhatAmI.ROUTER, ZenohId(b"\x02"), cookie=b"c")
        self.tap.sent(frame_batch(bytes(ack)), False)
        self.tap.received(bytes(Open(10_000, 10, cookie=b"c")), False)
        self.tap.sent(frame_batch(bytes(Open(10_000, 20))), False)

    def send(self, *messages: NetworkMessage) -> None:
        is_plain = all(isinstance(one, Push) for one in messages)
        self.tap.received(bytes(Frame(self.sn, list(messages))), is_plain)
        self.sn += 1

    def put(self, number: int, size: int = 8) -> None:
        self.send(Push(WireExpr(1), Put(number.to_bytes(8, "big") + b"x" * (size - 8))))

    def declare(self, key: str = "robot") -> None:
        self.send(Declare(DeclareKeyExpr(1, WireExpr(0, key))))


def values(folder: Path, may_lack_alias: bool = False, after_segment: int = 0) -> list[int]:
    """The published numbers, as found by a reader that begins after any segment.

    If the declaration of the alias may be lost, keys may be unknown, but never wrong.
    """
    found = []
    paths = [str(folder)]
    if after_segment:
        paths = [one.path for one in segments(str(folder)) if one.number > after_segment]
    for event in trace.open(paths):
        if isinstance(event, MessageSeen) and isinstance(event.message, Push):
            body = event.message.body
            assert isinstance(body, Put)
            assert event.key == "robot" or (may_lack_alias and event.key is None)
            assert event.ignored is None
            found.append(int.from_bytes(body.payload[:8], "big"))
    return found


def losses(folder: Path) -> list[tuple[str, int | None]]:
    events = list(trace.open(str(folder)))
    return [(one.kind, one.bytes) for one in events if isinstance(one, Missing)]


def wire_packets(folder: Path) -> dict[int, bytes]:
    """All valid packets of a recording by number."""
    found: dict[int, bytes] = {}
    for segment in segments(str(folder)):
        data = Path(segment.path).read_bytes()
        for block in blocks(data):
            if block.type == PACKET and data[block.start + 8] == WIRE:
                assert block.number not in found
                found[block.number] = data[block.start + 28 : block.stop - 32]
    return found
