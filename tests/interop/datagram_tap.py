"""Taps for datagrams: between two nodes, and in a group. The datagrams are kept as a capture."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from pathlib import Path

from tests.capture.headers import ethernet, ipv4, packet, udp
from zenlake.capture.pcapng_writer import PcapngWriter

Address = tuple[str, int]
_LOOPBACK = "127.0.0.1"
_DATAGRAM_BYTES_MAX = 65_535
_BUFFER_BYTES = 4 << 20


def a_socket(address: Address) -> socket.socket:
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    one.bind(address)
    return one


class DatagramTap:
    """One thread reads all sockets; subclasses decide where datagrams are forwarded."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._writer = PcapngWriter(self._file)
        self._count = 0
        self._is_closed = False
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._run)

    def pass_on(self, arrived: socket.socket, data: bytes, source: Address) -> None:
        raise NotImplementedError

    def listen(self, one: socket.socket) -> socket.socket:
        self._selector.register(one, selectors.EVENT_READ)
        return one

    def write(self, data: bytes, source: Address, target: Address) -> None:
        self._count += 1
        whole = ipv4(udp(data, (source[1], target[1])), 17, source[0], target[0])
        self._writer.write(packet(ethernet(whole), 1, self._count, time.time_ns()))

    def close(self) -> None:
        self._is_closed = True
        self._thread.join(5)
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._selector.close()
        self._file.close()

    def _run(self) -> None:
        while not self._is_closed:
            for key, _ in self._selector.select(0.1):
                one = key.fileobj
                assert isinstance(one, socket.socket)
                try:
                    data, source = one.recvfrom(_DATAGRAM_BYTES_MAX)
                except ConnectionError:  # caused by an earlier datagram to a closed socket
                    continue
                self.pass_on(one, data, source)

    def __enter__(self) -> DatagramTap:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class UdpTap(DatagramTap):
    """Forwards datagrams to `port` to `target`, and back; one socket for each sender."""

    def __init__(self, path: Path, target: int) -> None:
        super().__init__(path)
        self._target = (_LOOPBACK, target)
        self._near = self.listen(a_socket((_LOOPBACK, 0)))
        self.port: int = self._near.getsockname()[1]
        self._far: dict[Address, socket.socket] = {}
        self._sources: dict[socket.socket, Address] = {}

    def pass_on(self, arrived: socket.socket, data: bytes, source: Address) -> None:
        if arrived is not self._near:
            back = self._sources[arrived]
            self.write(data, self._target, back)
            self._near.sendto(data, back)
            return
        if source not in self._far:
            self._far[source] = self.listen(a_socket((_LOOPBACK, 0)))
            self._sources[self._far[source]] = source
        self.write(data, source, self._target)
        self._far[source].sendto(data, self._target)


class GroupTap(DatagramTap):
    """Receives the datagrams of a group on the loopback interface, and answers to `ask`."""

    def __init__(self, path: Path, group: str) -> None:
        super().__init__(path)
        self._group = group
        heard = a_socket((group, 0))
        self.port: int = heard.getsockname()[1]
        membership = socket.inet_aton(group) + socket.inet_aton(_LOOPBACK)
        heard.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        self._heard = self.listen(heard)
        self._asking = self.listen(a_socket((_LOOPBACK, 0)))
        interface = socket.inet_aton(_LOOPBACK)
        self._asking.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)

    def ask(self, data: bytes) -> None:
        self._asking.sendto(data, (self._group, self.port))

    def pass_on(self, arrived: socket.socket, data: bytes, source: Address) -> None:
        is_answer = arrived is self._asking
        target = self._asking.getsockname() if is_answer else (self._group, self.port)
        self.write(data, source, target)
