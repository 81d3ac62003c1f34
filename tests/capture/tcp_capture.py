"""Capture: feeds segments one by one and keeps the events in a form that is easy to compare."""

from __future__ import annotations

from zenlake.capture.stream_events import (
    StreamBytes,
    StreamClosed,
    StreamEvent,
    StreamGap,
    StreamOpened,
)
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import ACK, SYN, Ends, Segment

A, B = "10.0.0.1:40000", "10.0.0.2:7447"
NAME = f"{A}-{B}"
OUT, BACK = Ends(A, B), Ends(B, A)
MASK = 0xFFFFFFFF
MILLISECOND = 1_000_000

Part = bytes | tuple[int | None, str]
"""A part of a stream: bytes, or a gap and its cause."""


class Capture:
    """Feeds the segments of one connection, a millisecond apart, and keeps all events."""

    def __init__(self, streams: TcpStreams | None = None) -> None:
        self.streams = TcpStreams() if streams is None else streams
        self.events: list[StreamEvent] = []
        self.number = 0

    def feed(
        self,
        seq: int,
        data: bytes = b"",
        flags: int = ACK,
        ack: int = 0,
        ends: Ends = OUT,
        missing: int = 0,
        later_ns: int = 0,
    ) -> list[str]:
        self.number += 1
        time_ns = self.number * MILLISECOND + later_ns
        segment = Segment(self.number, time_ns, ends, seq & MASK, ack & MASK, flags, data, missing)
        events = self.streams.feed(segment)
        self.events += events
        return [short(event) for event in events]

    def connect(self, isn: int = 999, back_isn: int = 4999) -> None:
        """The three-way handshake: the first bytes have the numbers 1000 and 5000."""
        self.feed(isn, flags=SYN)
        self.feed(back_isn, flags=SYN | ACK, ack=isn + 1, ends=BACK)
        self.feed(isn + 1, ack=back_isn + 1)

    def end(self) -> list[str]:
        events = list(self.streams.finish())
        self.events += events
        return [short(event) for event in events]

    def parts(self, direction: int = 0) -> list[Part]:
        return parts([event for event in self.events if event.direction == direction])


def short(event: StreamEvent) -> str:
    """An event in few characters: `>` is the direction of the name, `<` the other."""
    arrow = "<" if event.direction else ">"
    if isinstance(event, StreamOpened):
        return f"{arrow} opened {event.flow.name}{'' if event.seen_syn else ' without SYN'}"
    if isinstance(event, StreamBytes):
        return f"{arrow} {event.data.decode('latin-1')}"
    if isinstance(event, StreamGap):
        return f"{arrow} gap {event.missing_bytes} {event.cause}"
    assert isinstance(event, StreamClosed)
    return f"{arrow} closed {event.cause}"


def parts(events: list[StreamEvent]) -> list[Part]:
    """Bytes and gaps; adjacent ones of the same kind are joined."""
    out: list[Part] = []
    for event in events:
        last = out[-1] if out else None
        if isinstance(event, StreamBytes):
            if isinstance(last, bytes):
                out[-1] = last + event.data
            else:
                out.append(event.data)
        elif isinstance(event, StreamGap):
            if isinstance(last, tuple) and last[1] == event.cause:
                assert last[0] is not None
                assert event.missing_bytes is not None
                out[-1] = (last[0] + event.missing_bytes, event.cause)
            else:
                out.append((event.missing_bytes, event.cause))
    return out
