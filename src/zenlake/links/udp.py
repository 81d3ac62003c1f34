"""UDP links: one datagram, one batch (wire reference §4).

A connecting side has a socket of its own. A listener has one socket for all links: `accept` reads
it and hands each datagram to the link of its source address. It makes a link for a source that
proved its address (`source_check`), and a new one if the source starts over because it did not
receive the answer to OPEN.
"""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Final

from zenlake.limits import UDP_REMOTES_MAX, UDP_WAITING_BYTES_MAX
from zenlake.links.addresses import Address, advertised, locator_text, resolve
from zenlake.links.interfaces import interfaces_of
from zenlake.links.link import Link, LinkError, LinkTimeout, Listener
from zenlake.links.options import LinkSettings
from zenlake.links.pace import Pace
from zenlake.links.shared_socket import SharedSocket, ask_for_room
from zenlake.links.socket_errors import SocketErrors
from zenlake.links.sockets import bind_socket, bind_to_interface, new_socket
from zenlake.wire import EndPoint
from zenlake.wire.headers import ID_BITS, INIT_ID, OPEN_ID

UDP_MTU: Final = {"linux": 65_487, "win32": 65_487, "darwin": 9_216}.get(sys.platform, 8_192)
_DATAGRAM_BYTES: Final = 65_536
_LATE_S: Final = 0.3


class UdpLink(Link):
    """The connecting side: a socket that only receives from its one remote."""

    is_stream = False
    is_reliable = False
    protocol = "udp"
    mtu = UDP_MTU

    def __init__(self, connected: socket.socket) -> None:
        ask_for_room(connected)
        self._shared = SharedSocket(connected)
        self._socket = connected
        self._pace = Pace()
        self.src = locator_text("udp", connected.getsockname())
        self.dst = locator_text("udp", connected.getpeername())
        self._errors = SocketErrors(self.dst)
        self.interfaces = interfaces_of(connected.getsockname()[0])

    def receive(self, timeout_s: float | None = None) -> bytes:
        """Skip empty datagrams, which are empty batches: b"" means the end.

        With a time, as in a handshake, an error ends the link: the connecting side tries again.
        Without, in an open session, temporary errors do not; the lease expires if the other side
        is gone.
        """
        shared = self._shared
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if deadline is not None and not shared.wait(select.POLLIN, deadline - time.monotonic()):
                raise LinkTimeout(self.dst, f"nothing received in {timeout_s:.3g} s")
            if not shared.enter():
                return b""
            try:
                data = self._socket.recv(_DATAGRAM_BYTES)
            except OSError as error:
                if shared.is_closed:
                    return b""
                if deadline is not None or not self._errors.retries(error, "receive"):
                    raise LinkError(self.dst, str(error)) from error
                continue
            finally:
                shared.leave()
            self._errors.clear()
            if data:
                return data

    def try_send(self, data: bytes) -> int:
        if not self._shared.enter():
            raise LinkError(self.dst, "the link is closed")
        try:
            if not self._pace.spend(len(data), time.monotonic()):
                return 0
            return self._socket.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        except OSError as error:
            if self._shared.is_closed or not self._errors.loses_datagram(error):
                raise LinkError(self.dst, str(error)) from error
            self.dropped += 1
            return len(data)
        finally:
            self._shared.leave()

    def wait_writable(self, timeout_s: float) -> bool:
        return self._pace.wait(timeout_s) and self._shared.wait(select.POLLOUT, timeout_s)

    def close(self) -> None:
        self._shared.close()
        self._errors.close()


class UdpRemote(Link):
    """The listening side: what one source address sends to the listener's socket."""

    is_stream = False
    is_reliable = False
    protocol = "udp"
    mtu = UDP_MTU

    def __init__(self, listener: UdpListener, address: Address) -> None:
        self._listener = listener
        self._address = address
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_closed = False
        self._arrived = threading.Condition()
        self._opening = b""
        self._opened_at = inf
        self._has_received_messages = False
        self._pace = Pace()
        self.src = listener.locator
        self.dst = locator_text("udp", address)
        self.interfaces = listener.interfaces

    def deliver(self, data: bytes) -> None:
        """Called by the listener; datagrams beyond the buffer are lost, as on any UDP socket."""
        with self._arrived:
            if self._waiting_bytes + len(data) > UDP_WAITING_BYTES_MAX:
                self._listener.dropped += 1
                return
            kind = data[0] & ID_BITS
            if kind == OPEN_ID:
                self._opening = data
                self._opened_at = time.monotonic()
            elif kind != INIT_ID:
                self._has_received_messages = True
            self._waiting.append(data)
            self._waiting_bytes += len(data)
            self._arrived.notify()

    def may_start_over(self, data: bytes) -> bool:
        """Whether a new handshake follows an OPEN and nothing else, as our answer to OPEN was lost.

        A handshake datagram that follows soon was only late. A byte 1 alone is no INIT of a node
        that agrees on anything, but begins compressed batches (wire reference §6.2).
        """
        if self._has_received_messages or time.monotonic() - self._opened_at <= _LATE_S:
            return False
        kind = data[0] & ID_BITS
        return (kind == INIT_ID and data[0] != INIT_ID) or (
            kind == OPEN_ID and data != self._opening
        )

    def receive(self, timeout_s: float | None = None) -> bytes:
        with self._arrived:
            if not self._arrived.wait_for(self._has_news, timeout_s):
                raise LinkTimeout(self.dst, f"nothing received in {timeout_s:.3g} s")
            if not self._waiting:
                return b""
            data = self._waiting.popleft()
            self._waiting_bytes -= len(data)
            return data

    def _has_news(self) -> bool:
        return bool(self._waiting) or self._is_closed

    def try_send(self, data: bytes) -> int:
        if self._is_closed:
            raise LinkError(self.dst, "the link is closed")
        if not self._pace.spend(len(data), time.monotonic()):
            return 0
        sent = self._listener.send_to(data, self._address)
        if sent >= 0:
            return sent
        self.dropped += 1
        return len(data)

    def wait_writable(self, timeout_s: float) -> bool:
        return self._pace.wait(timeout_s) and self._listener.wait_writable(timeout_s)

    def close(self) -> None:
        with self._arrived:
            self._is_closed = True
            self._arrived.notify_all()
        self._listener.forget(self._address, self)


class UdpListener(Listener):
    """One socket, and a link for each address that datagrams came from."""

    mtu = UDP_MTU

    def __init__(self, endpoint: EndPoint, settings: LinkSettings) -> None:
        self.endpoint = str(endpoint)

        def prepare(unbound: socket.socket) -> None:
            bind_to_interface(unbound, endpoint)
            ask_for_room(unbound)

        self._shared = SharedSocket(bind_socket(endpoint, socket.SOCK_DGRAM, prepare))
        self._address = self._shared.socket.getsockname()
        self._remotes: dict[Address, UdpRemote] = {}
        self._remotes_lock = threading.Lock()
        self._errors = SocketErrors(self.endpoint)
        self.dropped = 0
        self.locator = locator_text("udp", self._address)
        self.interfaces = interfaces_of(self._address[0])

    def accept(self) -> Link | None:
        while self._shared.enter():
            try:
                data, source = self._shared.socket.recvfrom(_DATAGRAM_BYTES)
            except OSError as error:
                if self._shared.is_closed:
                    break
                if not self._errors.retries(error, "receive"):
                    raise LinkError(self.endpoint, str(error)) from error
                continue
            finally:
                self._shared.leave()
            self._errors.clear()
            if data:
                remote = self._hand_over(data, source)
                if remote is not None:
                    return remote
        self._close_remotes()
        return None

    def _hand_over(self, data: bytes, source: Address) -> UdpRemote | None:
        """A new link if the source is new, its address is proved, and there is room for it."""
        known = self._remotes.get(source)
        if known is not None and not known.may_start_over(data):
            known.deliver(data)
            return None
        if not self._is_admitted(data, source):
            return None
        if known is not None:
            known.close()
        with self._remotes_lock:
            if len(self._remotes) >= UDP_REMOTES_MAX:
                self.dropped += 1
                return None
            remote = self._remotes[source] = UdpRemote(self, source)
        remote.deliver(data)
        return remote

    def _is_admitted(self, data: bytes, source: Address) -> bool:
        check = self.source_check
        if check is None:
            return True
        locator, now = locator_text("udp", source), time.monotonic()
        if check.redeem(data, locator, now):
            return True
        answer = check.answer(data, locator, now)
        if answer:
            with contextlib.suppress(LinkError):  # closed meanwhile
                self.dropped += self.send_to(answer, source) <= 0
        return False

    def send_to(self, data: bytes, address: Address) -> int:
        """The result of a link's `try_send`, or -1 if the datagram is lost."""
        if not self._shared.enter():
            raise LinkError(self.endpoint, "the listener is closed")
        try:
            return self._shared.socket.sendto(data, socket.MSG_DONTWAIT, address)
        except BlockingIOError:
            return 0
        except OSError as error:
            if self._shared.is_closed or not self._errors.loses_datagram(error):
                raise LinkError(locator_text("udp", address), str(error)) from error
            return -1
        finally:
            self._shared.leave()

    def wait_writable(self, timeout_s: float) -> bool:
        return self._shared.wait(select.POLLOUT, timeout_s)

    def forget(self, address: Address, remote: UdpRemote) -> None:
        with self._remotes_lock:
            if self._remotes.get(address) is remote:
                del self._remotes[address]

    def locators(self) -> list[str]:
        return advertised("udp", self._address[0], self._address[1])

    def close(self) -> None:
        self._shared.close()
        self._errors.close()
        self._close_remotes()

    def _close_remotes(self) -> None:
        with self._remotes_lock:
            remotes = list(self._remotes.values())
        for remote in remotes:
            remote.close()


def connect_udp(
    endpoint: EndPoint, settings: LinkSettings, timeout_s: float, is_cancelled: Callable[[], bool]
) -> UdpLink:
    cause: OSError | None = None
    for address in resolve(endpoint, socket.SOCK_DGRAM):
        connecting = new_socket(endpoint, address.family, socket.SOCK_DGRAM)
        try:
            bind_to_interface(connecting, endpoint)
            connecting.connect(address.target)
            return UdpLink(connecting)
        except OSError as error:
            connecting.close()
            cause = error
        except LinkError:
            connecting.close()
            raise
    raise LinkError(str(endpoint), str(cause)) from cause
