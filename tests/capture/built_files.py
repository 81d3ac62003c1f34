"""Capture files built byte by byte, in any byte order, good ones and bad ones."""

from __future__ import annotations

import importlib
import random
import struct
import sys
from pathlib import Path
from typing import Any

from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped

START_S = 1_700_000_000

zstd: Any = importlib.import_module(
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
)


def payloads(count: int, seed: int = 1) -> list[bytes]:
    """Random bytes of different lengths, never empty."""
    chance = random.Random(seed)
    return [chance.randbytes(chance.randrange(1, 120)) for _ in range(count)]


def pcap_header(order: str = "<", magic: int = 0xA1B2C3D4, link: int = 1) -> bytes:
    return struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262_144, link)


def pcap_record(data: bytes, number: int, order: str = "<", original: int = 0) -> bytes:
    fields = (START_S + number, number, len(data), original or len(data))
    return struct.pack(order + "IIII", *fields) + data


def pcap_records(bodies: list[bytes], order: str = "<") -> list[bytes]:
    return [pcap_record(body, number, order) for number, body in enumerate(bodies)]


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def block(type: int, body: bytes, order: str = "<") -> bytes:
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", type) + length + body + length


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + padded(value)


def section(order: str = "<", options: bytes = b"") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1) + options, order)


def interface(link: int = 1, options: bytes = b"", order: str = "<", snap: int = 0) -> bytes:
    return block(1, struct.pack(order + "HHI", link, 0, snap) + options, order)


def packet_block(
    data: bytes,
    units: int,
    index: int = 0,
    options: bytes = b"",
    order: str = "<",
    original: int = 0,
) -> bytes:
    high, low = units >> 32, units & 0xFFFFFFFF
    head = struct.pack(order + "IIIII", index, high, low, len(data), original or len(data))
    return block(6, head + padded(data) + options, order)


def packet_blocks(bodies: list[bytes], order: str = "<") -> list[bytes]:
    """Packet blocks with times in microseconds, the resolution of an interface that names none."""
    return [
        packet_block(body, (START_S + number) * 1_000_000 + number, order=order)
        for number, body in enumerate(bodies)
    ]


def time_ns(number: int) -> int:
    """When the packet with this number (from 0) of the files built here was captured."""
    return (START_S + number) * 1_000_000_000 + number * 1_000


class Outcome:
    """The packets that were read, and what was skipped."""

    def __init__(self, path: Path) -> None:
        self.skipped = Skipped()
        self.packets: list[Packet] = list(packets([str(path)], self.skipped))
        self.data = [packet.data for packet in self.packets]
        self.times = [packet.time_ns for packet in self.packets]

    def skipped_bytes(self) -> int:
        return sum(self.skipped.bytes.values())


def read(folder: Path, content: bytes) -> Outcome:
    path = folder / "built"
    path.write_bytes(content)
    return Outcome(path)
