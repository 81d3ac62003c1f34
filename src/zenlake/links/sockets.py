"""Sockets of endpoints: made, bound to an interface, and bound to an address."""

from __future__ import annotations

import socket
from collections.abc import Callable

from zenlake.links.addresses import resolve
from zenlake.links.interfaces import interface_addresses
from zenlake.links.link import LinkError
from zenlake.links.options import option
from zenlake.wire import EndPoint


def new_socket(
    endpoint: EndPoint, family: socket.AddressFamily, kind: socket.SocketKind
) -> socket.socket:
    """Create a socket; LinkError if the process or the system has no more of them."""
    try:
        return socket.socket(family, kind)
    except OSError as error:
        raise LinkError(str(endpoint), str(error)) from error


def bind_socket(
    endpoint: EndPoint, kind: socket.SocketKind, prepare: Callable[[socket.socket], None]
) -> socket.socket:
    """Bind a socket to the first address of an endpoint; a stream socket listens.

    `prepare` sets its options before.
    """
    address = resolve(endpoint, kind)[0]
    bound = new_socket(endpoint, address.family, kind)
    try:
        if address.family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        prepare(bound)
        bound.bind(address.target)
        if kind == socket.SOCK_STREAM:
            bound.listen(1024)
    except OSError as error:
        bound.close()
        raise LinkError(str(endpoint), str(error)) from error
    except LinkError:
        bound.close()
        raise
    return bound


def bind_to_interface(unbound: socket.socket, endpoint: EndPoint) -> None:
    """`iface=eth0`: only traffic of that interface."""
    name = option(endpoint, {}, "iface")
    if name is None:
        return
    if name not in {entry.name for entry in interface_addresses()}:
        raise LinkError(str(endpoint), f"there is no interface {name!r}")
    if not hasattr(socket, "SO_BINDTODEVICE"):
        raise LinkError(str(endpoint), "this system cannot bind a socket to an interface (iface)")
    unbound.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode())
