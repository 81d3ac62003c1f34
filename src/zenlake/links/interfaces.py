"""The network interfaces of this machine and their addresses, as the C library reports them."""

from __future__ import annotations

import ctypes
import socket
import sys
from functools import cache
from typing import Final, NamedTuple

_IFF_UP: Final = 0x1
_IFF_LOOPBACK: Final = 0x8
_IFF_MULTICAST: Final = 0x1000 if sys.platform == "linux" else 0x8000


class InterfaceAddress(NamedTuple):
    """One address of one interface."""

    name: str
    family: socket.AddressFamily
    address: str
    is_up: bool
    is_loopback: bool
    is_multicast: bool


class _IfAddrs(ctypes.Structure):
    pass


_IfAddrs._fields_ = [
    ("next", ctypes.POINTER(_IfAddrs)),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint),
    ("address", ctypes.c_void_p),
]


def interface_addresses() -> list[InterfaceAddress]:
    """All IPv4 and IPv6 addresses; only the loopback if the system does not report them."""
    try:
        return _reported_addresses()
    except (OSError, AttributeError, TypeError):
        return [InterfaceAddress("lo", socket.AF_INET, "127.0.0.1", True, True, False)]


@cache
def _c_library() -> ctypes.CDLL:
    """The C library, loaded once: each load makes a class that only the garbage collector frees."""
    return ctypes.CDLL(None, use_errno=True)


def _reported_addresses() -> list[InterfaceAddress]:
    library = _c_library()
    first = ctypes.POINTER(_IfAddrs)()
    if library.getifaddrs(ctypes.byref(first)) != 0:
        raise OSError(ctypes.get_errno(), "getifaddrs")
    found = []
    try:
        item = first
        while item:
            entry = item.contents
            address = _address(entry.address)
            if address is not None:
                flags = entry.flags
                found.append(
                    InterfaceAddress(
                        entry.name.decode(errors="replace"),
                        address[0],
                        address[1],
                        bool(flags & _IFF_UP),
                        bool(flags & _IFF_LOOPBACK),
                        bool(flags & _IFF_MULTICAST),
                    )
                )
            item = entry.next
    finally:
        library.freeifaddrs(first)
    return found


def _address(pointer: int | None) -> tuple[socket.AddressFamily, str] | None:
    """The text of a `sockaddr`; BSD systems put a length before the family."""
    if not pointer:
        return None
    head = ctypes.string_at(pointer, 2)
    family = int.from_bytes(head, sys.byteorder) if sys.platform == "linux" else head[1]
    if family == socket.AF_INET:
        return socket.AF_INET, socket.inet_ntop(socket.AF_INET, ctypes.string_at(pointer + 4, 4))
    if family == socket.AF_INET6:
        raw = ctypes.string_at(pointer + 8, 16)
        return socket.AF_INET6, socket.inet_ntop(socket.AF_INET6, raw)
    return None


def interfaces_of(address: str) -> list[str]:
    """The names of the interfaces that have an address."""
    plain = address.partition("%")[0].removeprefix("::ffff:")
    return [entry.name for entry in interface_addresses() if entry.address == plain]
