"""IP: from the bytes of a packet to whole datagrams, with fragments reassembled.

Lengths are those of the headers: padding of the link layer is dropped, and `missing` counts the
bytes that a snap length cut. Checksums are not verified: a host that leaves them to its network
card captures packets before the checksum is written.
"""

from __future__ import annotations

from socket import AF_INET, AF_INET6, inet_ntop
from struct import Struct
from typing import Final

from zenlake.capture.byte_ranges import PIECE_COST, ByteRanges, Piece
from zenlake.capture.link_layer import IPV4, IPV6, cause
from zenlake.capture.packet import Packet, Skipped
from zenlake.limits import (
    IP_DATAGRAMS_MAX,
    IP_EXTENSION_HEADERS_MAX,
    IP_FRAGMENT_BYTES_MAX,
    IP_FRAGMENT_SECONDS_MAX,
)

# Version and header length, total length, identification, flags and offset, protocol, addresses.
_unpack_ipv4: Final = Struct("!BxHHHxB2x8s").unpack_from
# Version, payload length, next header, addresses.
_unpack_ipv6: Final = Struct("!B3xHBx32s").unpack_from

_HOP_BY_HOP: Final = 0
_ROUTING: Final = 43
_FRAGMENT: Final = 44
_AUTHENTICATION: Final = 51
_DESTINATION_OPTIONS: Final = 60
_MOBILITY: Final = 135
_EXTENSIONS: Final = frozenset(
    (_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _DESTINATION_OPTIONS, _MOBILITY)
)


class IpDatagram:
    """One IP datagram: its payload is `data[start:end]`, then `missing` bytes not captured."""

    __slots__ = ("addresses", "data", "end", "identification", "missing", "protocol", "start")

    def __init__(
        self,
        addresses: bytes,
        protocol: int,
        data: bytes,
        start: int,
        end: int,
        missing: int,
        identification: int = 0,
    ) -> None:
        self.addresses = addresses
        """Source and destination address as on the wire, concatenated."""
        self.protocol = protocol
        self.data = data
        self.start = start
        self.end = end
        self.missing = missing
        self.identification = identification
        """A number that differs from that of earlier datagrams; 0 if the sender sets none."""

    @property
    def payload(self) -> bytes:
        return self.data[self.start : self.end]


def address_text(address: bytes) -> str:
    return inet_ntop(AF_INET if len(address) == 4 else AF_INET6, address)


class _Fragments:
    """The fragments of one datagram. `total` is its size, -1 before the last fragment arrived."""

    __slots__ = ("protocol", "ranges", "since_ns", "total")

    def __init__(self, since_ns: int) -> None:
        self.ranges = ByteRanges()
        self.since_ns = since_ns
        self.total = -1
        self.protocol = 0

    def is_whole(self) -> bool:
        if self.total < 0 or self.ranges.covered < self.total:
            return False
        place = 0
        for piece in self.ranges.pieces:
            if piece.start != place:
                break
            place = piece.end
        return place >= self.total


def _joined(addresses: bytes, partial: _Fragments) -> IpDatagram:
    """The datagram up to its first missing byte: readers cannot use what follows a gap."""
    data = bytearray()
    for piece in partial.ranges.pieces:
        data += piece.data
        if piece.missing:
            break
    end = min(len(data), partial.total)
    return IpDatagram(addresses, partial.protocol, bytes(data), 0, end, partial.total - end)


class IpReader:
    """Reads packets; returns datagrams in the order in which they become complete."""

    __slots__ = ("_held", "_partial", "_skipped")

    def __init__(self, skipped: Skipped) -> None:
        self._skipped = skipped
        self._partial: dict[bytes, _Fragments] = {}
        self._held = 0

    def read(self, packet: Packet, ethertype: int, offset: int) -> IpDatagram | None:
        """The datagram that a packet holds or completes, if any."""
        if ethertype == IPV4:
            return self.read_ipv4(packet, offset)
        if ethertype == IPV6:
            return self._read_ipv6(packet, offset)
        self._skipped.add(cause(packet.link_type, ethertype), len(packet.data))
        return None

    def finish(self) -> None:
        """The capture ends: incomplete datagrams are dropped and counted."""
        while self._partial:
            self._give_up_oldest()

    def read_ipv4(self, packet: Packet, offset: int) -> IpDatagram | None:
        data = packet.data
        size = len(data)
        if size < offset + 20:
            return self._skip("IP header cut", packet)
        first, length, identification, fragment, protocol, addresses = _unpack_ipv4(data, offset)
        start = offset + (first & 15) * 4
        end = offset + length
        if first == 0x45 and end <= size and end >= start and not fragment & 0x3FFF:
            return IpDatagram(addresses, protocol, data, start, end, 0, identification)
        if not length:
            # TCP segmentation offload: the network card fills in the lengths later.
            end = max(packet.original_bytes, size)
        if first >> 4 != 4 or start < offset + 20 or end < start:
            return self._skip("IP header malformed", packet)
        if size < start:
            return self._skip("IP header cut", packet)
        missing = max(end - size, 0)
        whole = IpDatagram(addresses, protocol, data, start, end - missing, missing, identification)
        if not fragment & 0x3FFF:
            return whole
        key = addresses + bytes((protocol,)) + identification.to_bytes(2, "big")
        return self._join(packet, whole, key, (fragment & 0x1FFF) * 8, not fragment & 0x2000)

    def _read_ipv6(self, packet: Packet, offset: int) -> IpDatagram | None:
        data = packet.data
        size = len(data)
        if size < offset + 40:
            return self._skip("IP header cut", packet)
        first, length, protocol, addresses = _unpack_ipv6(data, offset)
        if first >> 4 != 6:
            return self._skip("IP header malformed", packet)
        start = offset + 40
        # 0 is a jumbogram, or a packet before segmentation offload.
        end = start + length if length else max(packet.original_bytes, size)
        missing = max(end - size, 0)
        datagram = IpDatagram(addresses, protocol, data, start, end - missing, missing)
        return self._past_extensions(packet, datagram)

    def _past_extensions(self, packet: Packet, datagram: IpDatagram) -> IpDatagram | None:
        headers = 0
        while datagram.protocol in _EXTENSIONS:
            headers += 1
            if headers > IP_EXTENSION_HEADERS_MAX:
                return self._skip("too many IPv6 extension headers", packet)
            kind, data, start = datagram.protocol, datagram.data, datagram.start
            if start + 8 > datagram.end:
                return self._skip("IP header cut", packet)
            datagram.protocol = data[start]
            if kind == _FRAGMENT:
                datagram.start += 8
                fragment = data[start + 2] << 8 | data[start + 3]
                # An atomic fragment is a whole datagram (RFC 6946).
                if fragment & 0xFFF9:
                    key = datagram.addresses + data[start + 4 : start + 8]
                    datagram.identification = int.from_bytes(data[start + 4 : start + 8], "big")
                    is_last = not fragment & 1
                    joined = self._join(packet, datagram, key, fragment & 0xFFF8, is_last)
                    if joined is None:
                        return None
                    datagram = joined
            elif kind == _AUTHENTICATION:
                datagram.start += (data[start + 1] + 2) * 4
            else:
                datagram.start += (data[start + 1] + 1) * 8
            if datagram.start > datagram.end:
                return self._skip("IP header cut", packet)
        return datagram

    def _join(
        self, packet: Packet, part: IpDatagram, key: bytes, start: int, is_last: bool
    ) -> IpDatagram | None:
        """Adds a fragment to its datagram; returns the datagram when it is complete."""
        self._forget(packet.time_ns)
        partial = self._partial.get(key)
        if partial is None:
            partial = self._partial[key] = _Fragments(packet.time_ns)
        piece = Piece(start, part.payload, part.missing, packet.number, packet.time_ns)
        ranges = partial.ranges
        before = ranges.cost
        ranges.add(piece)
        self._held += ranges.cost - before
        if is_last and partial.total < 0:
            partial.total = piece.end
        if not start:
            partial.protocol = part.protocol
        ranges.report_repeated(self._skipped, "IP fragment")
        if partial.is_whole():
            del self._partial[key]
            self._held -= ranges.cost
            whole = _joined(part.addresses, partial)
            whole.identification = part.identification
            return whole
        while len(self._partial) > IP_DATAGRAMS_MAX or self._held > IP_FRAGMENT_BYTES_MAX:
            self._give_up_oldest()
        return None

    def _forget(self, now_ns: int) -> None:
        """Drops datagrams that are incomplete for too long; the oldest is the first."""
        horizon = now_ns - IP_FRAGMENT_SECONDS_MAX * 1_000_000_000
        while self._partial and next(iter(self._partial.values())).since_ns < horizon:
            self._give_up_oldest()

    def _give_up_oldest(self) -> None:
        key = next(iter(self._partial))
        ranges = self._partial.pop(key).ranges
        self._held -= ranges.cost
        size = ranges.cost - PIECE_COST * len(ranges.pieces)
        self._skipped.add("IP datagram incomplete", size)

    def _skip(self, reason: str, packet: Packet) -> IpDatagram | None:
        self._skipped.add(reason, len(packet.data))
        return None
