"""IP, TCP and UDP headers for recorded batches: they become packets as in a capture.

A node sees the content of its links, not their packets. Each batch gets headers with the
addresses of both ends, so that any reader of captures finds connections in a recording. The
IP checksum is right; those of TCP and UDP are 0, as in captures on a host with offloading.
"""

from __future__ import annotations

import ipaddress
from struct import Struct
from typing import Final, NamedTuple
from zlib import crc32

from zenlake.capture.transport import TCP, UDP

PAYLOAD_BYTES_MAX: Final = 65_495
"""The longest TCP payload: an IPv4 packet has 65,535 bytes at most, 40 of them are headers."""

_V4_TCP: Final = Struct(">BBHHHBBH8sHHIIBBHHH")
_V6_TCP: Final = Struct(">IHBB32sHHIIBBHHH")
_V4_UDP: Final = Struct(">BBHHHBBH8sHHHH")
_V6_UDP: Final = Struct(">IHBB32sHHHH")
_DO_NOT_FRAGMENT: Final = 0x4000
_HOPS: Final = 64
_WINDOW: Final = 65_535
_V6: Final = 6 << 28
_MASK: Final = 0xFFFF_FFFF


class End(NamedTuple):
    """One end of a link: the 4 or 16 bytes of its address, and its port."""

    address: bytes
    port: int


class Parsed(NamedTuple):
    """The headers of a recorded packet; `start` is where its payload begins."""

    protocol: int
    pair: bytes
    """Addresses and ports, the sender's first: the key of one direction of a link."""
    flags: int
    seq: int
    start: int


def end_of_locator(locator: str) -> End:
    """The end that a locator such as `tcp/127.0.0.1:7447` names.

    Ends without an IP address, such as links in memory, get one of the documentation range.
    """
    text = locator.partition("/")[2].partition("?")[0].partition("#")[0]
    host, _, port = text.rpartition(":")
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
        return End(address.packed, int(port) & 0xFFFF)
    except ValueError:
        mark = crc32(locator.encode())
        return End(bytes((192, 0, 2, mark & 0xFF)), mark >> 8 & 0xFFFF)


def as_one_family(first: End, second: End) -> tuple[End, End]:
    """Both ends as IPv4, or both as IPv6."""
    if len(first.address) == len(second.address):
        return first, second
    return _as_v6(first), _as_v6(second)


def _as_v6(end: End) -> End:
    if len(end.address) == 16:
        return end
    return End(b"\0" * 10 + b"\xff\xff" + end.address, end.port)


class TcpHeaders:
    """The headers of one direction of a TCP connection."""

    __slots__ = ("_addresses", "_destination", "_is_v4", "_source", "_sum")

    def __init__(self, source: End, destination: End) -> None:
        self._addresses = source.address + destination.address
        self._source = source.port
        self._destination = destination.port
        self._is_v4 = len(source.address) == 4
        self._sum = 0x4500 + _DO_NOT_FRAGMENT + (_HOPS << 8 | TCP) + _words(self._addresses)

    def header(self, size: int, flags: int, seq: int, ack: int) -> bytes:
        """The IP and TCP headers of a packet with `size` bytes of payload."""
        if self._is_v4:
            length = 40 + size
            return _V4_TCP.pack(
                0x45,
                0,
                length,
                0,
                _DO_NOT_FRAGMENT,
                _HOPS,
                TCP,
                _folded(self._sum + length),
                self._addresses,
                self._source,
                self._destination,
                seq & _MASK,
                ack & _MASK,
                0x50,
                flags,
                _WINDOW,
                0,
                0,
            )
        return _V6_TCP.pack(
            _V6,
            20 + size,
            TCP,
            _HOPS,
            self._addresses,
            self._source,
            self._destination,
            seq & _MASK,
            ack & _MASK,
            0x50,
            flags,
            _WINDOW,
            0,
            0,
        )


class UdpHeaders:
    """The headers of datagrams from one end to another, or to a group.

    The identification counts datagrams: readers take equal datagrams with equal identifications
    for copies.
    """

    __slots__ = ("_addresses", "_destination", "_is_v4", "_source", "_sum", "count")

    def __init__(self, source: End, destination: End) -> None:
        self._addresses = source.address + destination.address
        self._source = source.port
        self._destination = destination.port
        self._is_v4 = len(source.address) == 4
        self._sum = 0x4500 + _DO_NOT_FRAGMENT + (_HOPS << 8 | UDP) + _words(self._addresses)
        self.count = 0

    def header(self, size: int) -> bytes:
        if self._is_v4:
            self.count = number = self.count + 1 & 0xFFFF
            length = 28 + size
            return _V4_UDP.pack(
                0x45,
                0,
                length,
                number,
                _DO_NOT_FRAGMENT,
                _HOPS,
                UDP,
                _folded(self._sum + length + number),
                self._addresses,
                self._source,
                self._destination,
                8 + size,
                0,
            )
        return _V6_UDP.pack(
            _V6, 8 + size, UDP, _HOPS, self._addresses, self._source, self._destination, 8 + size, 0
        )


def parse(data: bytes) -> Parsed | None:
    """The headers of a packet as this module writes them; None for any other packet."""
    if len(data) < 28:
        return None
    version = data[0] >> 4
    if version == 4 and data[0] == 0x45:
        protocol, start, addresses = data[9], 20, data[12:20]
    elif version == 6 and len(data) >= 48:
        protocol, start, addresses = data[6], 40, data[8:40]
    else:
        return None
    pair = addresses + data[start : start + 4]
    if protocol == UDP:
        return Parsed(UDP, pair, 0, 0, start + 8)
    if protocol != TCP or len(data) < start + 20:
        return None
    seq = int.from_bytes(data[start + 4 : start + 8], "big")
    return Parsed(TCP, pair, data[start + 13], seq, start + (data[start + 12] >> 4) * 4)


def ends_of_pair(pair: bytes) -> tuple[End, End]:
    """The two ends that `Parsed.pair` names, the sender's first."""
    size = (len(pair) - 4) // 2
    source_port = int.from_bytes(pair[-4:-2], "big")
    destination_port = int.from_bytes(pair[-2:], "big")
    return End(pair[:size], source_port), End(pair[size : 2 * size], destination_port)


def pair_of_ends(source: End, destination: End) -> bytes:
    ports = source.port.to_bytes(2, "big") + destination.port.to_bytes(2, "big")
    return source.address + destination.address + ports


def _words(data: bytes) -> int:
    total = 0
    for at in range(0, len(data), 2):
        total += data[at] << 8 | data[at + 1]
    return total


def _folded(total: int) -> int:
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
