"""Captures with wrong bytes, in the whole file or only in payloads."""

from __future__ import annotations

import gzip
import io
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from zenlake import trace
from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.capture.transport import TransportReader
from zenlake.errors import CaptureError

RATES = (0.001, 0.005, 0.01, 0.02)


def plain_content(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def damaged_file(content: bytes, rate: float, seed: int) -> bytes:
    """Changes bytes anywhere, including all headers."""
    chance = random.Random(f"{seed} {rate}")
    return with_errors(content, rate, chance)


def damaged_payloads(content: bytes, rate: float, seed: int) -> bytes:
    """Changes bytes only in the payloads of TCP and UDP."""
    chance = random.Random(f"{seed} {rate}")
    file = io.BytesIO()
    writer = PcapngWriter(file)
    reader = TransportReader()
    for packet in packets_of(content):
        found = reader.read(packet)
        size = 0 if found is None else len(found.payload)
        start = len(packet.data) - size
        # Ethernet pads short packets, and IP fragments have no TCP or UDP header.
        if size and found is not None and packet.data.endswith(found.payload):
            payload = with_errors(found.payload, rate, chance)
            data = packet.data[:start] + payload
            packet = Packet(1, packet.time_ns, packet.link_type, data, packet.original_bytes)
        writer.write(packet)
    return file.getvalue()


def packets_of(content: bytes) -> Iterator[Packet]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield from packets([file.name], Skipped())


def with_errors(data: bytes, rate: float, chance: random.Random) -> bytes:
    damaged = bytearray(data)
    count = int(len(data) * rate + chance.random())
    for place in chance.choices(range(len(data)), k=count):
        damaged[place] = chance.randrange(256)
    return bytes(damaged)


def time_of(path: Path) -> float:
    """Processor time of this thread to read a capture to its end."""
    start = time.thread_time()
    try:
        for _ in trace.open(str(path)):
            pass
    except CaptureError:
        pass
    return time.thread_time() - start
