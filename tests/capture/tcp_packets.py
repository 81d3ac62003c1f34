"""The packets of a TCP connection, with the sequence numbers of both sides."""

from __future__ import annotations

from tests.capture.headers import A, B, ipv4, tcp
from zenlake.capture.transport import ACK, FIN, SYN


class TcpPackets:
    """Builds raw IPv4 packets; direction 0 is from the first host to the second."""

    def __init__(
        self,
        ports: tuple[int, int],
        hosts: tuple[str, str] = (A, B),
        first_seqs: tuple[int, int] = (1_000, 5_000),
    ) -> None:
        self._ports = (ports, ports[::-1])
        self._hosts = (hosts, hosts[::-1])
        self._seqs = list(first_seqs)

    def packet(self, direction: int, data: bytes = b"", flags: int = ACK) -> bytes:
        ack = self._seqs[1 - direction] if flags & ACK else 0
        segment = tcp(data, self._seqs[direction], ack, flags, self._ports[direction])
        self._seqs[direction] += len(data) + (flags & (SYN | FIN) != 0)
        return ipv4(segment, 6, *self._hosts[direction])
