"""Transport layer: TCP segments and UDP datagrams out of captured packets."""

from __future__ import annotations

from struct import Struct
from typing import Final

from zenlake.capture.ip import IpDatagram, IpReader, address_text
from zenlake.capture.link_layer import IPV4, direction_mark, network_layer
from zenlake.capture.packet import Packet, Skipped
from zenlake.limits import ENDS_MAX

TCP: Final = 6
UDP: Final = 17

FIN: Final = 0x01
SYN: Final = 0x02
RST: Final = 0x04
ACK: Final = 0x10

# Ports, sequence number, acknowledgement number, data offset, flags.
_unpack_tcp: Final = Struct("!4sIIBB").unpack_from


class Ends:
    """Source and destination, as `A:p`, or `[A]:p` for IPv6."""

    __slots__ = ("destination", "source", "text")

    def __init__(self, source: str, destination: str) -> None:
        self.source = source
        self.destination = destination
        self.text = f"{source}-{destination}"


class Segment:
    """One TCP segment: `payload`, then `missing` bytes that were not captured."""

    __slots__ = ("ack", "ends", "flags", "missing", "number", "payload", "seq", "time_ns")

    def __init__(
        self,
        number: int,
        time_ns: int,
        ends: Ends,
        seq: int,
        ack: int,
        flags: int,
        payload: bytes,
        missing: int = 0,
    ) -> None:
        self.number = number
        """The packet; the last one if the segment came in IP fragments."""
        self.time_ns = time_ns
        self.ends = ends
        self.seq = seq
        self.ack = ack
        self.flags = flags
        self.payload = payload
        self.missing = missing

    def __repr__(self) -> str:
        size = len(self.payload)
        return f"Segment({self.number}, {self.ends.text}, seq {self.seq}, {size} bytes)"


class UdpDatagram:
    """One UDP datagram: `payload`, then `missing` bytes that were not captured."""

    __slots__ = ("ends", "identification", "missing", "number", "payload", "place", "time_ns")

    def __init__(
        self,
        number: int,
        time_ns: int,
        ends: Ends,
        payload: bytes,
        missing: int = 0,
        identification: int = 0,
        place: int = 0,
    ) -> None:
        self.number = number
        self.time_ns = time_ns
        self.ends = ends
        self.payload = payload
        self.missing = missing
        self.identification = identification
        """The identification of its IP packet; 0 if there is none."""
        self.place = place
        """Capture point: equal for all packets of one interface and direction."""

    def __repr__(self) -> str:
        return f"UdpDatagram({self.number}, {self.ends.text}, {len(self.payload)} bytes)"


class TransportReader:
    """Reads TCP segments and UDP datagrams from packets; counts all else in `skipped`."""

    __slots__ = ("_ends", "_ends_max", "_ip", "skipped")

    def __init__(self, skipped: Skipped | None = None, ends_max: int = ENDS_MAX) -> None:
        self._ends_max = ends_max
        self.skipped = skipped if skipped is not None else Skipped()
        self._ip = IpReader(self.skipped)
        self._ends: dict[bytes, Ends] = {}

    def read(self, packet: Packet) -> Segment | UdpDatagram | None:
        """The segment or datagram that a packet carries, or completes by its IP fragment."""
        ethertype, offset = network_layer(packet.link_type, packet.data)
        if ethertype == IPV4:
            datagram = self._ip.read_ipv4(packet, offset)
        else:
            datagram = self._ip.read(packet, ethertype, offset)
        if datagram is None:
            return None
        if datagram.protocol == TCP:
            return self._read_tcp(packet, datagram)
        if datagram.protocol == UDP:
            return self._read_udp(packet, datagram)
        self.skipped.add(f"IP protocol {datagram.protocol}", datagram.end - datagram.start)
        return None

    def finish(self) -> None:
        """The capture ends: counts incomplete datagrams."""
        self._ip.finish()

    def _read_tcp(self, packet: Packet, datagram: IpDatagram) -> Segment | None:
        data, start, end = datagram.data, datagram.start, datagram.end
        if end - start < 20:
            self.skipped.add("TCP header cut", end - start)
            return None
        ports, seq, ack, offset, flags = _unpack_tcp(data, start)
        start += offset >> 4 << 2
        missing = datagram.missing
        if start > end or offset < 0x50:
            if offset < 0x50 or not missing:
                self.skipped.add("TCP header malformed", end - datagram.start)
                return None
            # The snap length cut the options: they are no payload.
            missing = max(missing - (start - end), 0)
            start = end
        key = datagram.addresses + ports
        ends = self._ends.get(key) or self._new_ends(key)
        payload = data[start:end]
        return Segment(packet.number, packet.time_ns, ends, seq, ack, flags, payload, missing)

    def _read_udp(self, packet: Packet, datagram: IpDatagram) -> UdpDatagram | None:
        data, start, end = datagram.data, datagram.start, datagram.end
        if end - start < 8:
            self.skipped.add("UDP header cut", end - start)
            return None
        key = datagram.addresses + data[start : start + 4]
        length = data[start + 4] << 8 | data[start + 5]
        claimed = start + length
        if not length:
            # A jumbogram, or a packet before segmentation offload.
            claimed = end + datagram.missing
        if (length and length < 8) or claimed > end + datagram.missing:
            self.skipped.add("UDP header malformed", end - start)
            return None
        ends = self._ends.get(key) or self._new_ends(key)
        payload = data[start + 8 : min(claimed, end)]
        missing = max(claimed - end, 0)
        place = packet.interface << 48 | direction_mark(packet.link_type, packet.data)
        return UdpDatagram(
            packet.number, packet.time_ns, ends, payload, missing, datagram.identification, place
        )

    def _new_ends(self, key: bytes) -> Ends:
        """`key` is two addresses and two ports."""
        size = 4 if len(key) == 12 else 16
        form = "{}:{}" if size == 4 else "[{}]:{}"
        source_port = key[2 * size] << 8 | key[2 * size + 1]
        destination_port = key[2 * size + 2] << 8 | key[2 * size + 3]
        ends = Ends(
            form.format(address_text(key[:size]), source_port),
            form.format(address_text(key[size : 2 * size]), destination_port),
        )
        if len(self._ends) >= self._ends_max:
            self._ends.clear()
        self._ends[key] = ends
        return ends
