"""Link layer: where the network layer of a captured packet begins, and its ethertype.

A link type is the number in a capture file (LINKTYPE_*, nearly always equal to DLT_*). A packet
that cannot be read gets a negative number in place of an ethertype, which `cause` describes: an
exception for each would be slow on noisy captures.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import VLAN_TAGS_MAX

IPV4: Final = 0x0800
IPV6: Final = 0x86DD

CUT: Final = -1
UNSUPPORTED: Final = -2
TOO_MANY_TAGS: Final = -3
NOT_SNAP: Final = -4
NOT_IP: Final = -5

NULL: Final = 0
ETHERNET: Final = 1
LOOP: Final = 108
LINUX_SLL: Final = 113
RAW_IPV4: Final = 228
RAW_IPV6: Final = 229
LINUX_SLL2: Final = 276
# 101 is what files should have; 12 and 14 are the DLT_RAW of BSD and OpenBSD.
RAW: Final = (101, 12, 14)

_LLC: Final = 0x0004
_SNAP_BYTES: Final = 8
# IPv6 has one number on each system: Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin.
_FAMILIES: Final = {2: IPV4, 10: IPV6, 23: IPV6, 24: IPV6, 28: IPV6, 30: IPV6}


def network_layer(link_type: int, data: bytes) -> tuple[int, int]:
    """The ethertype and the offset of the network layer; a negative ethertype: see `cause`."""
    size = len(data)
    if link_type == ETHERNET:
        if size < 14:
            return CUT, size
        ethertype = data[12] << 8 | data[13]
        if ethertype == IPV4:
            return IPV4, 14
        if ethertype <= 1500:
            return _snap(data, 14)
        return _untagged(data, ethertype, 14)
    if link_type in (LINUX_SLL, LINUX_SLL2):
        start = 16 if link_type == LINUX_SLL else 20
        if size < start:
            return CUT, size
        at = 14 if link_type == LINUX_SLL else 0
        ethertype = data[at] << 8 | data[at + 1]
        return _snap(data, start) if ethertype == _LLC else _untagged(data, ethertype, start)
    if link_type in (NULL, LOOP):
        return _loopback(data)
    if link_type == RAW_IPV4:
        return IPV4, 0
    if link_type == RAW_IPV6:
        return IPV6, 0
    if link_type in RAW:
        if not size:
            return CUT, 0
        version = data[0] >> 4
        return (IPV4 if version == 4 else IPV6 if version == 6 else NOT_IP), 0
    return UNSUPPORTED, 0


def direction_mark(link_type: int, data: bytes) -> int:
    """A number that differs between directions, and between interfaces of the device `any`."""
    if link_type == LINUX_SLL:
        return data[0] << 8 | data[1]
    if link_type == LINUX_SLL2:
        return int.from_bytes(data[4:8], "big") << 8 | data[10]
    return 0


def cause(link_type: int, ethertype: int) -> str:
    """Why the network layer of a packet was not read, as counted in Skipped."""
    if ethertype == UNSUPPORTED:
        return f"link type {link_type}"
    if ethertype == CUT:
        return "link header cut"
    if ethertype == TOO_MANY_TAGS:
        return "too many VLAN tags"
    if ethertype == NOT_SNAP:
        return "802.3 without SNAP"
    if ethertype == NOT_IP:
        return "link without IP"
    return f"ethertype 0x{ethertype:04x}"


def _untagged(data: bytes, ethertype: int, offset: int) -> tuple[int, int]:
    """Skips 802.1Q and QinQ tags: each is two bytes of tag and two of the next ethertype."""
    tags = 0
    while ethertype == 0x8100 or ethertype == 0x88A8 or ethertype == 0x9100:
        if tags == VLAN_TAGS_MAX:
            return TOO_MANY_TAGS, offset
        if offset + 4 > len(data):
            return CUT, len(data)
        ethertype = data[offset + 2] << 8 | data[offset + 3]
        offset += 4
        tags += 1
    return _snap(data, offset) if ethertype <= 1500 and tags else (ethertype, offset)


def _snap(data: bytes, offset: int) -> tuple[int, int]:
    """802.2 LLC with SNAP: aa aa 03, no organisation, the ethertype."""
    if offset + _SNAP_BYTES > len(data):
        return CUT, len(data)
    if data[offset : offset + 6] != b"\xaa\xaa\x03\x00\x00\x00":
        return NOT_SNAP, offset
    offset += _SNAP_BYTES
    ethertype = data[offset - 2] << 8 | data[offset - 1]
    return (NOT_SNAP if ethertype <= 1500 else ethertype), offset


def _loopback(data: bytes) -> tuple[int, int]:
    """Four bytes of address family, in the byte order of the host that captured."""
    if len(data) < 4:
        return CUT, len(data)
    family = int.from_bytes(data[:4], "little")
    if family > 0xFFFF:
        family = int.from_bytes(data[:4], "big")
    return _FAMILIES.get(family, NOT_IP), 4
