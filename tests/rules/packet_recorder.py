"""Recorder: packets of connections that were never made, as a capture.

A connection sends units at the recorder's time and returns the number of the packet that completes
each.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.capture.capture_file import write_capture
from tests.capture.headers import ethernet, ipv4, packet, udp
from tests.capture.tcp_packets import TcpPackets
from zenlake.capture.packet import Packet
from zenlake.capture.transport import ACK, FIN, SYN

_PUSH = 0x08
_MSS = 1_400
START_NS = 1_700_000_000_000_000_000
MILLISECOND = 1_000_000
SECOND = 1_000 * MILLISECOND


class Recorder:
    """The packets of one capture, in the order of time."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.packets: list[Packet] = []
        self.now_ns = START_NS

    def wait(self, ns: int) -> None:
        self.now_ns += ns

    def add(self, data: bytes) -> int:
        self.wait(self.random.randrange(20_000, 2 * MILLISECOND))
        number = len(self.packets) + 1
        self.packets.append(packet(ethernet(data), number=number, time_ns=self.now_ns))
        return number

    def write(self, path: Path) -> None:
        write_capture(path, self.packets)


class TcpConnection:
    """One connection; units may come in several segments."""

    is_stream = True

    def __init__(self, recorder: Recorder, number: int) -> None:
        self._recorder = recorder
        self._packets = TcpPackets((40_000 + number, 7_447))
        self._segment(0, b"", SYN)
        self._segment(1, b"", SYN | ACK)
        self._segment(0, b"", ACK)

    def send(self, direction: int, data: bytes) -> int:
        random, number, size = self._recorder.random, 0, _MSS
        if len(data) > 1 and random.random() < 0.15:
            size = random.randrange(1, len(data))
        while data:
            number = self._segment(direction, data[:size], _PUSH | ACK)
            data, size = data[size:], _MSS
        return number

    def end(self) -> None:
        for direction in (0, 1):
            self._segment(direction, b"", FIN | ACK)

    def _segment(self, direction: int, data: bytes, flags: int) -> int:
        return self._recorder.add(self._packets.packet(direction, data, flags))


class UdpConnection:
    """Datagrams between two addresses."""

    is_stream = False

    def __init__(self, recorder: Recorder, number: int) -> None:
        self._recorder = recorder
        self._hosts = ("10.0.1.1", "10.0.1.2")
        self._ports = (40_000 + number, 7_447)
        self._sent: list[bytes] = []

    def send(self, direction: int, data: bytes) -> int:
        ports = self._ports if direction == 0 else self._ports[::-1]
        hosts = self._hosts if direction == 0 else self._hosts[::-1]
        if data in self._sent[-16:]:
            # Without a pause the reader would regard it as one datagram captured on two interfaces.
            self._recorder.wait(20 * MILLISECOND)
        self._sent.append(data)
        return self._recorder.add(ipv4(udp(data, ports), 17, *hosts))

    def end(self) -> None:
        """Do nothing: no packet marks the end of a UDP link."""


def datagram(recorder: Recorder, source: str, destination: str, data: bytes) -> int:
    """One datagram between addresses such as `10.0.0.1:7447`."""
    (a, p), (b, q) = (end.split(":") for end in (source, destination))
    return recorder.add(ipv4(udp(data, (int(p), int(q))), 17, a, b))
