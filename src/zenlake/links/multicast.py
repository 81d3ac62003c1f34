"""UDP multicast: the sockets of scouting and of multicast groups (wire reference §3.1, §8).

One socket is bound to the group and receives from it. On each interface one more, with a port of
its own, sends to the group and receives the answers. The source address of a datagram names its
sender, so datagrams from the own sending sockets are ignored.
"""

from __future__ import annotations

import contextlib
import ipaddress
import select
import socket
import struct
from typing import Final

from zenlake.forks import close_after_fork
from zenlake.links.addresses import Address
from zenlake.links.interfaces import InterfaceAddress, interface_addresses
from zenlake.links.link import LinkError
from zenlake.links.shared_socket import ask_for_room
from zenlake.links.socket_errors import SocketErrors

_DATAGRAM_BYTES: Final = 65_536


class ReceivedDatagram:
    """A received datagram: from where, and to which address of this node or to the group."""

    __slots__ = ("data", "destination", "source")

    def __init__(self, data: bytes, source: Address, destination: Address) -> None:
        self.data = data
        self.source = source
        self.destination = destination


class MulticastSockets:
    """The sockets of one group: `receiver` is bound to it, `senders` has one per interface.

    A group that is only sent to, as by a scouting client, is not joined: `listens=False`.
    """

    def __init__(
        self,
        group: str,
        port: int,
        interfaces: str = "auto",
        ttl: int = 1,
        joins: tuple[str, ...] = (),
        listens: bool = True,
    ) -> None:
        self.endpoint = f"udp/{group}:{port}"
        self.group: Address = (group, port)
        self.family = socket.AF_INET6 if ":" in group else socket.AF_INET
        self.receiver: socket.socket | None = None
        self.senders: list[socket.socket] = []
        self._errors = SocketErrors(self.endpoint)
        try:
            self.interfaces = multicast_interfaces(interfaces, self.family)
            self._wake_in, self._wake_out = socket.socketpair()
        except OSError as error:
            raise LinkError(self.endpoint, str(error)) from error
        try:
            if listens:
                self.receiver = self._bind_group((group, *joins), port)
            for entry in self.interfaces:
                self.senders.append(self._bind_sender(entry, ttl))
        except OSError as error:
            self.close()
            raise LinkError(self.endpoint, str(error)) from error
        self.sources: list[Address] = [
            (entry.address, one.getsockname()[1])
            for entry, one in zip(self.interfaces, self.senders, strict=True)
        ]
        """The source addresses of datagrams that this node sends, by sender."""
        for one in (*self.senders, self._wake_in, self._wake_out):
            close_after_fork(one)
        if self.receiver is not None:
            close_after_fork(self.receiver)

    def send(self, data: bytes) -> list[Address]:
        """Send to the group, on every interface; returns the source addresses of what was sent."""
        sources: list[Address] = []
        for own, one in zip(self.sources, self.senders, strict=True):
            with contextlib.suppress(OSError):
                one.sendto(data, socket.MSG_DONTWAIT, self.group)
                sources.append(own)
        return sources

    def answer(self, data: bytes, datagram: ReceivedDatagram) -> Address | None:
        """Send to the source of a datagram, from a socket with a port of its own.

        Returns the source address of the answer; None if it was not sent.
        """
        host = str(datagram.source[0])
        wanted = int(ipaddress.ip_address(host.partition("%")[0]))

        def distance(sender: tuple[Address, socket.socket]) -> int:
            """The bits of the addresses after the prefix that they have in common."""
            return (int(ipaddress.ip_address(sender[0][0])) ^ wanted).bit_length()

        nearest = min(zip(self.sources, self.senders, strict=True), key=distance, default=None)
        if nearest is not None:
            own, one = nearest
            with contextlib.suppress(OSError):
                one.sendto(data, socket.MSG_DONTWAIT, datagram.source)
                return own
        return None

    def receive(self, timeout_s: float | None) -> list[ReceivedDatagram]:
        """Wait for datagrams of others; none after the timeout or after `wake`.

        After a temporary error it waits and returns nothing; LinkError if the sockets have failed.
        """
        try:
            return self._receive(timeout_s)
        except OSError as error:
            if not self._errors.retries(error, "receive"):
                raise LinkError(self.endpoint, str(error)) from error
            return []

    def _receive(self, timeout_s: float | None) -> list[ReceivedDatagram]:
        poll = select.poll()
        sockets = {
            one.fileno(): (one, own) for own, one in zip(self.sources, self.senders, strict=True)
        }
        if self.receiver is not None:
            sockets[self.receiver.fileno()] = (self.receiver, self.group)
        for descriptor in (*sockets, self._wake_in.fileno()):
            poll.register(descriptor, select.POLLIN)
        ready = poll.poll(None if timeout_s is None else max(0, timeout_s) * 1000)
        found: list[ReceivedDatagram] = []
        failure: OSError | None = None
        for descriptor, _ in ready:
            known = sockets.get(descriptor)
            if known is None:
                self._wake_in.recv(64)
                continue
            one, destination = known
            try:
                data, source = one.recvfrom(_DATAGRAM_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            except OSError as error:  # concerns one interface: read the others first
                failure = error
                continue
            self._errors.clear()
            if (str(source[0]).partition("%")[0], source[1]) not in self.sources:
                found.append(ReceivedDatagram(data, source, destination))
        if failure is not None and not found:
            raise failure
        return found

    def wake(self) -> None:
        self._errors.close()
        with contextlib.suppress(OSError):
            self._wake_out.send(b"w")

    def close(self) -> None:
        """Called only by the thread that receives, after it was woken."""
        for one in (*self.senders, self._wake_in, self._wake_out):
            one.close()
        if self.receiver is not None:
            self.receiver.close()

    def _bind_group(self, groups: tuple[str, ...], port: int) -> socket.socket:
        bound = socket.socket(self.family, socket.SOCK_DGRAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            ask_for_room(bound)
            # Bound to the group, so that it receives nothing else that is sent to the port.
            bound.bind((groups[0] if len(groups) == 1 else "", port))
            for group in groups:
                for entry in self.interfaces:
                    self._join(bound, group, entry)
        except OSError:
            bound.close()
            raise
        return bound

    def _join(self, bound: socket.socket, group: str, entry: InterfaceAddress) -> None:
        raw = socket.inet_pton(self.family, group)
        if self.family == socket.AF_INET:
            request = raw + socket.inet_aton(entry.address)
            bound.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
        else:
            request = raw + struct.pack("@I", socket.if_nametoindex(entry.name))
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, request)

    def _bind_sender(self, entry: InterfaceAddress, ttl: int) -> socket.socket:
        sender = socket.socket(self.family, socket.SOCK_DGRAM)
        try:
            if self.family == socket.AF_INET:
                sender.bind((entry.address, 0))
                address = socket.inet_aton(entry.address)
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, address)
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, ttl)
            else:
                index = socket.if_nametoindex(entry.name)
                sender.bind((entry.address, 0, 0, index))
                sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
                sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, ttl)
        except OSError:
            sender.close()
            raise
        return sender


def multicast_interfaces(
    wanted: str, family: socket.AddressFamily = socket.AF_INET
) -> list[InterfaceAddress]:
    """`auto`: all that are up, can multicast and are not loopback; else names or addresses.

    One address per interface. The separators are those of lists in endpoints and in text.
    """
    names = wanted.replace("|", ",").split(",")
    found: dict[str, InterfaceAddress] = {}
    for entry in interface_addresses():
        if entry.family != family or not entry.is_up:
            continue
        usable = entry.is_multicast and not entry.is_loopback
        if entry.name in names or entry.address in names or (wanted == "auto" and usable):
            found.setdefault(entry.name, entry)
    return list(found.values())


def is_group(host: str) -> bool:
    """Whether an address is a multicast group."""
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_multicast
    except ValueError:
        return False
