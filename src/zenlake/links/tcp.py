"""TCP links (wire reference §4, §4.1)."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Final

from zenlake.links.addresses import SocketAddress, advertised, locator_text, resolve
from zenlake.links.interfaces import interfaces_of
from zenlake.links.link import Link, LinkError, LinkTimeout, Listener
from zenlake.links.options import LinkSettings, number_option, option
from zenlake.links.shared_socket import SharedSocket
from zenlake.links.socket_errors import SocketErrors
from zenlake.links.sockets import bind_socket, bind_to_interface, new_socket
from zenlake.wire import EndPoint

# The buffer of one call. It is larger while the other side sends fast, so that a call returns many
# batches. For the usual small reads, allocating a large buffer costs more than the call.
_RECEIVE_BYTES: Final = 64 * 1024
RECEIVE_BYTES_MAX: Final = 512 * 1024
_CANCEL_CHECK_S: Final = 0.1
# Linux's struct tcp_info: the round-trip time in microseconds follows eight bytes and 15 numbers.
_TCP_INFO_BYTES: Final = 104
_RTT_OFFSET: Final = 68


class TcpLink(Link):
    """A connected TCP socket, blocking for its reader and not for its senders."""

    is_stream = True
    is_reliable = True
    protocol = "tcp"

    def __init__(self, connected: socket.socket, src: str, dst: str) -> None:
        self.src = src
        self.dst = dst
        self._shared = SharedSocket(connected)
        self._socket = connected
        self._receive_bytes = _RECEIVE_BYTES
        self.mtu = batch_size_of(connected)

    @property
    def interfaces(self) -> list[str]:  # type: ignore[override]  # an attribute there
        """The interfaces of this end, computed on demand so that a flood of links costs little."""
        return interfaces_of(self.src.partition("/")[2].rpartition(":")[0].strip("[]"))

    def receive(self, timeout_s: float | None = None) -> bytes:
        shared = self._shared
        if timeout_s and not shared.wait(select.POLLIN, timeout_s):
            raise LinkTimeout(self.dst, f"nothing received in {timeout_s:.3g} s")
        flags = socket.MSG_DONTWAIT if timeout_s == 0.0 else 0
        if not shared.enter():
            return b""
        try:
            data = self._socket.recv(self._receive_bytes, flags)
            is_filled = len(data) == self._receive_bytes
            self._receive_bytes = RECEIVE_BYTES_MAX if is_filled else _RECEIVE_BYTES
            return data
        except BlockingIOError:
            raise LinkTimeout(self.dst, "nothing received for a while") from None
        except OSError as error:
            if shared.is_closed:
                return b""
            raise LinkError(self.dst, str(error)) from error
        finally:
            shared.leave()

    def round_trip_us(self) -> int | None:
        if not self._shared.enter():
            return None
        try:
            return round_trip_of(self._socket)
        finally:
            self._shared.leave()

    def set_patience(self, seconds: float) -> None:
        whole = int(seconds)
        micros = int((seconds - whole) * 1e6)
        with contextlib.suppress(OSError):
            self._socket.setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", whole, micros)
            )

    def begin_idle(self) -> int:
        return self._socket.fileno() if self._shared.enter() else -1

    def end_idle(self) -> None:
        self._shared.leave()

    def try_send(self, data: bytes) -> int:
        shared = self._shared
        if not shared.enter():
            raise LinkError(self.dst, "the link is closed")
        try:
            return self._socket.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LinkError(self.dst, str(error)) from error
        finally:
            shared.leave()

    def wait_writable(self, timeout_s: float) -> bool:
        return self._shared.wait(select.POLLOUT, timeout_s)

    def close(self) -> None:
        self._shared.close()


class TcpListener(Listener):
    """A listening TCP socket."""

    protocol = "tcp"

    def __init__(self, endpoint: EndPoint, settings: LinkSettings) -> None:
        self.endpoint = str(endpoint)
        _, mark, metadata = endpoint.locator.partition("?")
        self._metadata = mark + metadata

        def prepare(listening: socket.socket) -> None:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            _apply_options(listening, endpoint, settings)

        self._shared = SharedSocket(bind_socket(endpoint, socket.SOCK_STREAM, prepare))
        self._address = self._shared.socket.getsockname()
        self._errors = SocketErrors(self.endpoint)

    def accept(self) -> Link | None:
        while (accepted := self._accept()) is not None:
            connected, remote = accepted
            try:
                _tune(connected)
                src = locator_text(self.protocol, connected.getsockname())
                return self._link(connected, src, locator_text(self.protocol, remote))
            except OSError:  # the connection was reset already
                connected.close()
        return None

    def _accept(self) -> tuple[socket.socket, tuple[str, int]] | None:
        while self._shared.enter():
            try:
                accepted = self._shared.socket.accept()
            except OSError as error:
                if not self._shared.is_closed and not self._errors.retries(error, "accept"):
                    raise LinkError(self.endpoint, str(error)) from error
            else:
                self._errors.clear()
                return accepted
            finally:
                self._shared.leave()
        return None

    def _link(self, connected: socket.socket, src: str, dst: str) -> Link:
        return TcpLink(connected, src, dst)

    def locators(self) -> list[str]:
        return advertised(self.protocol, self._address[0], self._address[1], self._metadata)

    def close(self) -> None:
        self._shared.close()
        self._errors.close()


def connect_socket(
    endpoint: EndPoint, settings: LinkSettings, timeout_s: float, is_cancelled: Callable[[], bool]
) -> socket.socket:
    """A connected socket to the first address of the endpoint that answers."""
    deadline = time.monotonic() + timeout_s
    cause: LinkError | None = None
    for address in resolve(endpoint, socket.SOCK_STREAM):
        connecting = new_socket(endpoint, address.family, socket.SOCK_STREAM)
        try:
            _apply_options(connecting, endpoint, settings)
            _bind_source(connecting, endpoint, address)
            _connect(connecting, endpoint, address, deadline, is_cancelled)
            _tune(connecting)
            return connecting
        except (OSError, LinkError) as error:
            connecting.close()
            cause = error if isinstance(error, LinkError) else _link_error(endpoint, error)
    assert cause is not None
    raise cause


def _link_error(endpoint: EndPoint, error: OSError) -> LinkError:
    return LinkError(str(endpoint), error.strerror or str(error))


def _connect(
    connecting: socket.socket,
    endpoint: EndPoint,
    address: SocketAddress,
    deadline: float,
    is_cancelled: Callable[[], bool],
) -> None:
    """Connect in short waits, so that a node that closes need not wait for a silent host."""
    connecting.setblocking(False)
    code = connecting.connect_ex(address.target)
    poll = select.poll()
    poll.register(connecting, select.POLLOUT)
    while code == errno.EINPROGRESS:
        left = deadline - time.monotonic()
        if left <= 0:
            raise LinkTimeout(str(endpoint), "no answer in time")
        if is_cancelled():
            raise LinkError(str(endpoint), "the node is closing")
        if poll.poll(min(left, _CANCEL_CHECK_S) * 1000):
            code = connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code != 0:
        raise OSError(code, os.strerror(code))
    connecting.setblocking(True)
    if connecting.getsockname() == connecting.getpeername():
        # A connection to a free port of this machine may, by chance, connect to itself.
        raise LinkError(str(endpoint), "the socket connected to itself")


def connect_tcp(
    endpoint: EndPoint, settings: LinkSettings, timeout_s: float, is_cancelled: Callable[[], bool]
) -> TcpLink:
    connected = connect_socket(endpoint, settings, timeout_s, is_cancelled)
    src, dst = locators_of(connected, endpoint)
    return TcpLink(connected, src, dst)


def locators_of(connected: socket.socket, endpoint: EndPoint) -> tuple[str, str]:
    """The locators of both ends; LinkError if the other side has reset the connection already."""
    try:
        own, peer = connected.getsockname(), connected.getpeername()
    except OSError as error:
        connected.close()
        raise LinkError(str(endpoint), str(error)) from error
    return locator_text(endpoint.protocol, own), locator_text(endpoint.protocol, peer)


def batch_size_of(connected: socket.socket) -> int:
    """The batch size offered (wire reference §4.1): whole segments, as many as a batch holds."""
    mtu = 65_535 - (40 if connected.family == socket.AF_INET else 60)
    with contextlib.suppress(OSError):
        half = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG) // 2
        if half > 0:
            mtu = max(half, (mtu - 1) // half * half)
    return mtu


def round_trip_of(connected: socket.socket) -> int | None:
    """The smoothed round-trip time, where the system reports it as Linux does."""
    number = getattr(socket, "TCP_INFO", None)
    if number is None or sys.platform != "linux":
        return None
    try:
        info = connected.getsockopt(socket.IPPROTO_TCP, number, _TCP_INFO_BYTES)
    except OSError:
        return None
    end = _RTT_OFFSET + 4
    return int.from_bytes(info[_RTT_OFFSET:end], sys.byteorder) if len(info) >= end else None


def _apply_options(unconnected: socket.socket, endpoint: EndPoint, settings: LinkSettings) -> None:
    sizes = settings.tls if endpoint.protocol == "tls" else settings.tcp
    for name, code in (("so_sndbuf", socket.SO_SNDBUF), ("so_rcvbuf", socket.SO_RCVBUF)):
        size = number_option(endpoint, sizes, name)
        if size is not None:
            unconnected.setsockopt(socket.SOL_SOCKET, code, size)
    dscp = option(endpoint, {}, "dscp")
    if dscp is not None:
        try:
            mark = (int(dscp, 0) & 0x3F) << 2
        except ValueError:
            raise LinkError(str(endpoint), f"dscp is a number, not {dscp!r}") from None
        unconnected.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, mark)
    bind_to_interface(unconnected, endpoint)


def _bind_source(connecting: socket.socket, endpoint: EndPoint, address: SocketAddress) -> None:
    """`bind=host:port`: the address to connect from."""
    source = option(endpoint, {}, "bind")
    if source is not None:
        found = resolve(EndPoint(endpoint.protocol, source), socket.SOCK_STREAM)
        fitting = [one for one in found if one.family == address.family]
        if not fitting:
            raise LinkError(str(endpoint), f"{source} is of another family")
        connecting.bind(fitting[0].target)


def _tune(connected: socket.socket) -> None:
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
