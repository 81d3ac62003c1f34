"""Noise on the port of Zenoh contains no session (P09), whatever its protocol.

`fuzz/noise.py` does the same with millions of packets.
"""

from __future__ import annotations

import random

import pytest

from tests.chance import IS_FULL
from tests.paths import CAPTURES
from tests.trace.event_reader import EventReader
from tests.trace.noise import PAYLOAD_BYTES_MAX, PAYLOADS, conversation
from zenlake.capture.transport import ACK, SYN, Ends, Segment

CONVERSATIONS = 400 if IS_FULL else 16
PACKETS = (5, 20, 100, 200)
"""Numbers of packets in a conversation, used in rotation."""


@pytest.mark.parametrize("kind", PAYLOADS)
def test_noise_has_no_session(kind: str) -> None:
    fed = 0
    for seed in range(CONVERSATIONS):
        chance = random.Random(f"{kind} {seed}")
        count = PACKETS[seed % len(PACKETS)]
        reader = EventReader()
        for content in conversation(chance, PAYLOADS[kind], 1, count):
            fed += len(content.payload)
            reader.feed(content)
        reader.finish()
        assert not reader.messages, f"seed {seed}: {reader.messages[:3]}"
        assert not reader.sessions, f"seed {seed}: {reader.sessions}"
        assert reader.undecoded_bytes <= fed


@pytest.mark.parametrize("byte", range(256))
def test_repeated_byte_is_not_a_batch(byte: int) -> None:
    """A length of two such bytes always leads to the next such byte."""
    reader = EventReader()
    streamed(reader, bytes((byte,)) * 10_000)
    assert not reader.messages
    assert not reader.sessions


@pytest.mark.parametrize("name", ["pubsub_router.pcapng", "qos_matrix.pcap"])
@pytest.mark.parametrize("has_syn", [True, False])
def test_transfer_of_a_capture_file_is_not_a_session(name: str, has_syn: bool) -> None:
    """The file contains whole batches, between headers of packets and records."""
    reader = EventReader()
    streamed(reader, (CAPTURES / name).read_bytes(), has_syn)
    assert not reader.messages
    assert not reader.sessions


@pytest.mark.parametrize("second", [0x00, 0x7E, 0x7F, 0x80, 0xFF])
def test_websocket_of_another_protocol_is_not_zenoh(second: int) -> None:
    """For any beginning of its first frame."""
    head = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
    for first in range(256):
        reader = EventReader()
        streamed(reader, head + bytes((first, second)) + b"some text", has_syn=True)
        assert not reader.messages
        assert not reader.sessions


def streamed(reader: EventReader, data: bytes, has_syn: bool = False) -> None:
    """Feeds one direction of a connection that carries these bytes."""
    ends = Ends("10.0.0.1:40000", "10.0.0.2:7447")
    if has_syn:
        reader.feed(Segment(1, 1, ends, 999, 0, SYN, b""))
    for place in range(0, len(data), PAYLOAD_BYTES_MAX):
        part = data[place : place + PAYLOAD_BYTES_MAX]
        number = 2 + place // PAYLOAD_BYTES_MAX
        reader.feed(Segment(number, number * 1_000_000, ends, 1_000 + place, 0, ACK, part))
    reader.finish()
