"""LinkPackets: the traffic of one link as the packets of a capture.

A stream link begins with SYN, SYN-ACK and ACK, each batch is one TCP segment (two if it is longer
than a packet), and FIN of both sides ends it. A datagram link has only datagrams. Bytes that the
recorder lost are skipped in the sequence numbers, so that readers report a gap of that size.
"""

from __future__ import annotations

from typing import Final

from zenlake.capture.transport import ACK, FIN, RST, SYN
from zenlake.recording.packet_headers import PAYLOAD_BYTES_MAX, End, TcpHeaders, UdpHeaders

_PSH: Final = 0x08
_MASK: Final = 0xFFFF_FFFF


class LinkPackets:
    """The packets of one link. Direction 0 is from `ends[0]`, which opened it, to `ends[1]`."""

    __slots__ = ("_tcp", "_udp", "ends", "is_stream", "next_seq")

    def __init__(self, ends: tuple[End, End], is_stream: bool, first_seqs: list[int]) -> None:
        first, second = ends
        self.ends = ends
        self.is_stream = is_stream
        self._tcp = (TcpHeaders(first, second), TcpHeaders(second, first))
        self._udp = (UdpHeaders(first, second), UdpHeaders(second, first))
        self.next_seq = [first_seqs[0] & _MASK, first_seqs[1] & _MASK]
        """The sequence number of the next byte of each direction."""

    def opening(self) -> list[bytes]:
        """SYN, SYN-ACK, ACK; `next_seq` has the numbers of the first bytes afterwards."""
        if not self.is_stream:
            return []
        one, other = self._tcp
        first, second = self.next_seq
        return [
            one.header(0, SYN, first - 1, 0),
            other.header(0, SYN | ACK, second - 1, first),
            one.header(0, ACK, first, second),
        ]

    def earlier_uses(self, count: int) -> list[bytes]:
        """SYN and RST of earlier connections between the same ends.

        Their sequence numbers differ: readers take a SYN with the same number for a repeated one.
        """
        headers, found = self._tcp[0], []
        for back in range(count if self.is_stream else 0, 0, -1):
            seq = self.next_seq[0] - back
            found.append(headers.header(0, SYN, seq - 1, 0))
            found.append(headers.header(0, RST, seq, 0))
        return found

    def heads(self, direction: int, size: int) -> list[tuple[bytes, int, int]]:
        """For `size` bytes of a direction, the headers of each packet and its part of the bytes."""
        if not self.is_stream:
            return [(self._udp[direction].header(size), 0, size)]
        headers, seq = self._tcp[direction], self.next_seq[direction]
        ack = self.next_seq[1 - direction]
        self.next_seq[direction] = (seq + size) & _MASK
        if size <= PAYLOAD_BYTES_MAX:
            return [(headers.header(size, _PSH | ACK, seq, ack), 0, size)]
        found = []
        for start in range(0, size, PAYLOAD_BYTES_MAX):
            stop = min(size, start + PAYLOAD_BYTES_MAX)
            found.append((headers.header(stop - start, _PSH | ACK, seq + start, ack), start, stop))
        return found

    def data(self, direction: int, data: bytes) -> list[bytes]:
        """The packets of a batch with its length prefix, or of a datagram."""
        return [head + data[start:stop] for head, start, stop in self.heads(direction, len(data))]

    def skip(self, direction: int, size: int) -> None:
        """Skip the sequence numbers of bytes that were lost."""
        self.next_seq[direction] = (self.next_seq[direction] + size) & _MASK

    def closing(self) -> list[bytes]:
        """FIN of both sides, and the last ACK."""
        if not self.is_stream:
            return []
        one, other = self._tcp
        first, second = self.next_seq
        return [
            one.header(0, FIN | ACK, first, second),
            other.header(0, FIN | ACK, second, first + 1),
            one.header(0, ACK, first + 1, second + 1),
        ]

    def reset(self) -> list[bytes]:
        """RST: the recorder does not know how the link ended."""
        if not self.is_stream:
            return []
        return [self._tcp[0].header(0, RST | ACK, self.next_seq[0], self.next_seq[1])]


def first_seq(time_ns: int) -> int:
    """The first sequence number of a link that opens now.

    It grows with time, as RFC 793 recommends: a SYN with the number of an earlier link between the
    same ends would look like a repeated one.
    """
    return time_ns >> 8 & 0x7FFF_FFFF


def packets_of(size: int) -> int:
    """How many packets carry a batch of this size, with its length prefix."""
    return max(1, -(-size // PAYLOAD_BYTES_MAX))
