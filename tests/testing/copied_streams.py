"""Helpers for tests of copied captures: streams, messages and hosts of packets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.paths import CAPTURES
from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.stream_events import StreamBytes, StreamEvent, StreamGap
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader
from zenlake.wire import Frame, Message, Push, Put, decode_batch, kind_of
from zenlake.wire.framing import StreamDeframer

PATHS = [CAPTURES / "pubsub_router.pcapng", CAPTURES / "qos_matrix.pcap"]
COPIES = 5

captures = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def read(path: Path) -> list[Packet]:
    return list(packets([str(path)], Skipped()))


def streams_of(copied: Iterable[Packet]) -> dict[tuple[str, int], bytes]:
    """The bytes of each direction of each flow, by the text of the flow."""
    skipped = Skipped()
    reader, streams = TransportReader(skipped), TcpStreams(skipped)
    events: list[StreamEvent] = []
    for packet in copied:
        found = reader.read(packet)
        if isinstance(found, Segment):
            events += streams.feed(found)
    events += streams.finish()
    reader.finish()
    assert not skipped
    found_streams: dict[tuple[str, int], bytes] = {}
    for event in events:
        assert not isinstance(event, StreamGap)
        if isinstance(event, StreamBytes):
            key = event.flow.name, event.direction
            found_streams[key] = found_streams.get(key, b"") + event.data
    return found_streams


def messages_of(stream: bytes) -> list[Message]:
    found: list[Message] = []
    deframer = StreamDeframer()
    for data in deframer.receive(stream):
        batch = decode_batch(data)
        assert batch.error is None
        for message in batch.messages:
            found.append(message)
            if isinstance(message, Frame):
                found += message.messages
    assert deframer.pending_bytes == 0
    return found


def host_of(flow: str) -> str:
    return flow.partition(":")[0]


def by_host(streams: dict[tuple[str, int], bytes]) -> dict[str, list[bytes]]:
    """The Zenoh streams; each copy of these captures has a host of its own."""
    found: dict[str, list[bytes]] = {}
    for (flow, _), stream in streams.items():
        if not stream.startswith((b"GET ", b"HTTP")):
            found.setdefault(host_of(flow), []).append(stream)
    return found


def kinds(streams: list[bytes]) -> Counter[str]:
    return Counter(kind_of(message) for stream in streams for message in messages_of(stream))


def segments_of(copied: Iterable[Packet]) -> list[Segment]:
    reader = TransportReader()
    return [found for packet in copied if isinstance(found := reader.read(packet), Segment)]


def puts(stream: bytes) -> list[Put]:
    pushes = [message for message in messages_of(stream) if isinstance(message, Push)]
    return [push.body for push in pushes if isinstance(push.body, Put)]


def payloads(stream: bytes) -> list[bytes]:
    return [bytes(put.payload) for put in puts(stream)]


def times(stream: bytes) -> list[int]:
    return [put.timestamp.time for put in puts(stream) if put.timestamp is not None]
