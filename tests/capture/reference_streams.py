"""A simple reference reassembler, to compare with; Ethernet, IPv4 and TCP only."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dpkt

Stream = tuple[str, str, int]
"""Source, destination and the number of the connection: 0 began before the capture."""

STREAM_BYTES_MAX = 1 << 28


def frames(path: Path) -> Iterator[bytes]:
    """The packets of a capture, which may be compressed."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    for _, frame in dpkt.pcap.UniversalReader(io.BytesIO(content)):
        yield frame


@cache
def reference_streams(path: Path) -> dict[Stream, bytes]:
    """The bytes of each stream, placed by their distance from the last SYN."""
    turns: dict[tuple[str, str], int] = {}
    starts: dict[tuple[str, str], int] = {}
    pieces: dict[Stream, list[tuple[int, bytes]]] = {}
    for frame in frames(path):
        ip = dpkt.ethernet.Ethernet(frame).data
        tcp = getattr(ip, "data", None)
        if not isinstance(tcp, dpkt.tcp.TCP):
            continue
        ends = f"{ip.src.hex()}:{tcp.sport}", f"{ip.dst.hex()}:{tcp.dport}"
        if tcp.flags & dpkt.tcp.TH_SYN and starts.get(ends) != tcp.seq + 1:
            starts[ends] = tcp.seq + 1
            turns[ends] = turns.get(ends, 0) + 1
        elif ends not in starts:
            starts[ends] = tcp.seq
            turns[ends] = 0
        if tcp.data:
            place = tcp.seq - starts[ends] & 0xFFFFFFFF
            pieces.setdefault((*ends, turns[ends]), []).append((place, tcp.data))
    return {stream: laid_out(found) for stream, found in pieces.items()}


def laid_out(pieces: list[tuple[int, bytes]]) -> bytes:
    """Joins pieces by their places; where two overlap, the first one counts."""
    assert all(place < STREAM_BYTES_MAX for place, _ in pieces), "before its beginning"
    stream = bytearray(max(place + len(data) for place, data in pieces))
    for place, data in reversed(pieces):
        stream[place : place + len(data)] = data
    return bytes(stream)


def as_hex(end: str) -> str:
    """`127.0.0.1:80` as the reference names it."""
    address, _, port = end.rpartition(":")
    return f"{bytes(map(int, address.split('.'))).hex()}:{port}"
