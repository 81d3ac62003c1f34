"""TCP segments: changed ones of captures, and made ones."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.lake.fast_reader.mutations import store
from zenlake.capture.packet import Packet

INIT = bytes.fromhex("0400010900aa")
RST = 4
TCP_AT = 34
"""The offset of TCP after Ethernet and IPv4 without options."""


class Segment:
    """A mutable packet."""

    def __init__(self, packet: Packet) -> None:
        self.packet = packet
        data = packet.data
        self.is_tcp = len(data) > TCP_AT + 20 and data[23] == 6
        total = struct.unpack_from("!H", data, 16)[0]
        self.payload_at = TCP_AT + (data[TCP_AT + 12] >> 4) * 4 if self.is_tcp else len(data)
        self.payload = data[self.payload_at : 14 + total]
        self.seq = struct.unpack_from("!I", data, TCP_AT + 4)[0] if self.is_tcp else 0
        self.flags = data[TCP_AT + 13] if self.is_tcp else 0

    def changed(
        self, seq: int | None = None, flags: int | None = None, payload: bytes | None = None
    ) -> Packet:
        data = bytearray(self.packet.data[: self.payload_at])
        data += self.payload if payload is None else payload
        struct.pack_into("!H", data, 16, len(data) - 14)
        struct.pack_into("!I", data, TCP_AT + 4, (self.seq if seq is None else seq) & 0xFFFFFFFF)
        data[TCP_AT + 13] = self.flags if flags is None else flags
        one = self.packet
        content = bytes(data)
        return Packet(one.number, one.time_ns, one.link_type, content, len(content), one.interface)


def tcp(port: int, seq: int, flags: int, payload: bytes) -> Packet:
    """A TCP segment from one host to another, in raw IPv4."""
    size = 40 + len(payload)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, size, 0, 0, 64, 6, 0) + bytes(range(1, 9))
    head = struct.pack("!HHIIBBHHH", port, 7447, seq, 0, 0x50, flags, 0, 0, 0)
    return Packet(1, 1, 101, ip + head + payload, size)


def connections(path: Path, ports: int, *parts: bytes, with_reset: bool = False) -> Path:
    packets = []
    for port in range(1, ports + 1):
        packets.append(tcp(port, 0, 2, b""))
        seq = 1
        for part in (INIT, *parts):
            packets.append(tcp(port, seq, 0, part))
            seq += len(part)
        if with_reset:
            packets.append(tcp(port, seq, RST, b""))
    store(path, packets)
    return path
