"""Addresses in endpoints: `host:port` with names, IPv4, `[IPv6]`, and what a listener announces."""

from __future__ import annotations

import ipaddress
import socket
from typing import NamedTuple

from zenlake.links.interfaces import interface_addresses
from zenlake.links.link import LinkError
from zenlake.wire import EndPoint

Address = tuple[str, int] | tuple[str, int, int, int]
"""An argument of `connect` or `bind`: host and port, and for IPv6 also flow and scope."""


class SocketAddress(NamedTuple):
    """One address of a host, with its family."""

    family: socket.AddressFamily
    target: Address


def split_address(endpoint: EndPoint) -> tuple[str, int]:
    """Host and port; there is no default port (wire reference §1.8)."""
    host, colon, port = endpoint.address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise LinkError(str(endpoint), "expected an address host:port")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise LinkError(str(endpoint), "write the IPv6 address in brackets: [::1]:7447")
    if not host:
        raise LinkError(str(endpoint), "expected an address host:port")
    return host, int(port)


def resolve(endpoint: EndPoint, kind: socket.SocketKind) -> list[SocketAddress]:
    """All addresses of an endpoint, in the order the system prefers."""
    host, port = split_address(endpoint)
    try:
        found = socket.getaddrinfo(host, port, type=kind)
    except (OSError, UnicodeError) as error:
        raise LinkError(str(endpoint), f"the host is not known ({error})") from error
    addresses = [
        SocketAddress(family, target)  # type: ignore[arg-type]  # neither is a path
        for family, _, _, _, target in found
        if family in (socket.AF_INET, socket.AF_INET6)
    ]
    if not addresses:
        raise LinkError(str(endpoint), "the host has no IP address")
    return addresses


def address_text(host: str, port: int) -> str:
    """The address as locators write it; an IPv4 address inside IPv6 is written as IPv4."""
    host = host.removeprefix("::ffff:") if "." in host else host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def locator_text(protocol: str, target: Address) -> str:
    return f"{protocol}/{address_text(target[0], target[1])}"


def advertised(protocol: str, host: str, port: int, metadata: str = "") -> list[str]:
    """The addresses that a listener announces: its own, or for a wildcard those of all interfaces.

    Loopback addresses are announced only when one was bound (behaviour reference §4.7). Link-local
    IPv6 addresses mean nothing without a scope and are left out.
    """
    bound = ipaddress.ip_address(host.partition("%")[0])
    if not bound.is_unspecified:
        return [f"{protocol}/{address_text(host, port)}{metadata}"]
    families = {socket.AF_INET} if bound.version == 4 else {socket.AF_INET, socket.AF_INET6}
    return [
        f"{protocol}/{address_text(entry.address, port)}{metadata}"
        for entry in interface_addresses()
        if entry.family in families
        and entry.is_up
        and not entry.is_loopback
        and not ipaddress.ip_address(entry.address).is_link_local
    ]
