"""Builds the headers of packets, which the code under test reads."""

from __future__ import annotations

from ipaddress import ip_address
from struct import pack

from zenlake.capture.packet import Packet

A, B = "10.0.0.1", "10.0.0.2"
A6, B6 = "fe80::1", "2001:db8::2"


def ethernet(payload: bytes, ethertype: int = 0x0800, tags: tuple[int, ...] = ()) -> bytes:
    shims = b"".join(pack("!HH", tag, 100 + i) for i, tag in enumerate(tags))
    return b"\x02" * 6 + b"\x04" * 6 + shims + pack("!H", ethertype) + payload


def ipv4(
    payload: bytes,
    protocol: int = 17,
    source: str = A,
    destination: str = B,
    identification: int = 7,
    offset: int = 0,
    more: bool = False,
    options: bytes = b"",
    length: int | None = None,
) -> bytes:
    total = 20 + len(options) + len(payload) if length is None else length
    head = pack(
        "!BBHHHBBH",
        0x45 + len(options) // 4,
        0,
        total,
        identification,
        offset // 8 | more << 13,
        64,
        protocol,
        0,
    )
    return head + ip_address(source).packed + ip_address(destination).packed + options + payload


def ipv6(
    payload: bytes,
    protocol: int = 17,
    source: str = A6,
    destination: str = B6,
    length: int | None = None,
) -> bytes:
    size = len(payload) if length is None else length
    addresses = ip_address(source).packed + ip_address(destination).packed
    return pack("!IHBB", 6 << 28, size, protocol, 64) + addresses + payload


def ipv6_fragment(
    payload: bytes, protocol: int = 17, identification: int = 7, offset: int = 0, more: bool = False
) -> bytes:
    return ipv6(pack("!BBHI", protocol, 0, offset | more, identification) + payload, 44)


def tcp(
    payload: bytes = b"",
    seq: int = 1,
    ack: int = 0,
    flags: int = 0x10,
    ports: tuple[int, int] = (40000, 7447),
    options: bytes = b"",
) -> bytes:
    offset = (5 + len(options) // 4) << 4
    return pack("!HHIIBBHHH", *ports, seq, ack, offset, flags, 512, 0, 0) + options + payload


def udp(
    payload: bytes = b"", ports: tuple[int, int] = (40000, 7447), length: int | None = None
) -> bytes:
    return pack("!HHHH", *ports, 8 + len(payload) if length is None else length, 0) + payload


def packet(
    data: bytes, link_type: int = 1, number: int = 1, time_ns: int = 0, snap: int | None = None
) -> Packet:
    return Packet(number, time_ns, link_type, data[:snap], len(data))
