"""Batches of a capture as they crossed their links, before they become events."""

from __future__ import annotations

from pathlib import Path

from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader
from zenlake.trace.link import LinkBatch
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.links.connections import Connections
from zenlake.trace.links.datagrams import Datagrams
from zenlake.trace.walker import Walker
from zenlake.wire.batch import encode_messages
from zenlake.wire.compression import decompress_batch


def batches_of(path: Path) -> list[LinkBatch]:
    """As `Trace` reads them; sessions are followed because they say how batches are formed."""
    skipped = Skipped()
    items: list[LinkItem] = []
    found: list[LinkBatch] = []
    transport, streams = TransportReader(skipped), TcpStreams(skipped)
    connections = Connections(items, frozenset())
    datagrams = Datagrams(items, skipped, frozenset())
    walker = Walker([])

    def walk() -> None:
        for item in items:
            if isinstance(item, LinkBatch):
                found.append(item)
            walker.feed(item)
        items.clear()

    number, time_ns = 0, 0
    for packet in packets([str(path)], skipped):
        number, time_ns = packet.number, packet.time_ns
        content = transport.read(packet)
        if isinstance(content, Segment):
            for event in streams.feed(content):
                connections.feed(event, number, time_ns)
        elif content is not None:
            datagrams.feed(content)
        walk()
    transport.end()
    for event in streams.end():
        connections.feed(event, number, time_ns)
    datagrams.end()
    walk()
    return found


SAME = "same"
SAME_WHEN_DECOMPRESSED = "same when decompressed"
SECOND_CLOSE = "the second CLOSE of a low-latency link is no message"
INCOMPLETE = "not all of it is in the capture"
DIFFERENT = "different"


def content_of(batch: LinkBatch) -> bytes:
    """What its messages were read from: compressed where a byte before them says so."""
    if encode_messages(batch.messages) == batch.data or batch.data[:1] not in (b"\x00", b"\x01"):
        return batch.data
    return decompress_batch(batch.data)


def reencoded(batch: LinkBatch) -> str:
    """How the bytes that its messages are encoded to compare with those they were read from."""
    if batch.state != "ok":
        return INCOMPLETE
    data = encode_messages(batch.messages)
    if data == batch.data:
        return SAME
    if not batch.messages and batch.data == b"\x03\x00":
        return SECOND_CLOSE
    return SAME_WHEN_DECOMPRESSED if data == content_of(batch) else DIFFERENT
