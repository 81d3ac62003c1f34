"""Envelopes: the bytes of a capture file around the data of a packet.

A record is `before`, the time, `between`, the data, `after`. Everything except the time and the
data is the same in every copy of a packet, so it is made once.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from struct import Struct
from typing import Final, Protocol

from zenlake.capture.packet import Packet
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.errors import LocalError
from zenlake.limits import PACKET_BYTES_MAX

_NS_PER_S: Final = 1_000_000_000
_PCAP_NANOSECONDS: Final = 0xA1B23C4D
_pcap_header: Final = Struct("<IHHiIII").pack
_two_words: Final = Struct("<II").pack


class Envelope(Protocol):
    head: bytes
    """The header of the file."""

    def around(self, packet: Packet) -> tuple[bytes, bytes, bytes]:
        """The bytes before its time, between time and data, and after the data."""

    def times(self, times_ns: Sequence[int]) -> list[bytes]:
        """The encoded times of records."""


class PcapngEnvelope:
    """The blocks of a PcapngWriter."""

    def __init__(self, packets: Sequence[Packet]) -> None:
        self._file = io.BytesIO()
        self._writer = PcapngWriter(self._file)
        self.head = self._pop_written()
        first = {packet.link_type: packet for packet in reversed(packets)}
        for packet in sorted(first.values(), key=packets.index):
            # The interface description is written before its first packet.
            self._writer.write(packet)
            interface = self._pop_written()
            self._writer.write(packet)
            self.head += interface[: -len(self._pop_written())]

    def around(self, packet: Packet) -> tuple[bytes, bytes, bytes]:
        self._writer.write(packet)
        block = self._pop_written()
        return block[:12], block[20:28], block[28 + len(packet.data) :]

    def times(self, times_ns: Sequence[int]) -> list[bytes]:
        return [_two_words(time_ns >> 32, time_ns & 0xFFFF_FFFF) for time_ns in times_ns]

    def _pop_written(self) -> bytes:
        taken = self._file.getvalue()
        self._file.seek(0)
        self._file.truncate()
        return taken


class PcapEnvelope:
    """The records of a classic pcap file with nanoseconds, which has one link type."""

    def __init__(self, packets: Sequence[Packet]) -> None:
        link_types = {packet.link_type for packet in packets}
        if len(link_types) != 1:
            raise LocalError(f"packets of {len(link_types)} link types, which need pcapng")
        head = _PCAP_NANOSECONDS, 2, 4, 0, 0, PACKET_BYTES_MAX, *link_types
        self.head = _pcap_header(*head)

    def around(self, packet: Packet) -> tuple[bytes, bytes, bytes]:
        captured = len(packet.data)
        return b"", _two_words(captured, max(packet.original_bytes, captured)), b""

    def times(self, times_ns: Sequence[int]) -> list[bytes]:
        return [_two_words(*divmod(time_ns, _NS_PER_S)) for time_ns in times_ns]
