"""The offset of a packet's network layer: `capture.link_layer.network_layer` as a kernel."""

from __future__ import annotations

from typing import Final

from zenlake.capture.link_layer import (
    CUT,
    ETHERNET,
    IPV4,
    IPV6,
    LINUX_SLL,
    LINUX_SLL2,
    LOOP,
    NOT_IP,
    NOT_SNAP,
    NULL,
    RAW,
    RAW_IPV4,
    RAW_IPV6,
    TOO_MANY_TAGS,
    UNSUPPORTED,
)
from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.scan.numbers import Bytes, byte, u16_big, u32_big, u32_little
from zenlake.limits import VLAN_TAGS_MAX

_LLC: Final = 0x0004
_SNAP_BYTES: Final = 8


@inlined
def network_layer(data: Bytes, start: int, stop: int, link_type: int) -> tuple[int, int]:
    """The ethertype, negative where there is none, and the offset of the network layer."""
    size = stop - start
    if link_type == ETHERNET:
        if size < 14:
            return CUT, stop
        ethertype = u16_big(data, start + 12)
        if ethertype == IPV4:
            return IPV4, start + 14
        if ethertype <= 1500:
            return _snap(data, start + 14, stop)
        return _untagged(data, ethertype, start + 14, stop)
    if link_type in (LINUX_SLL, LINUX_SLL2):
        header = 16 if link_type == LINUX_SLL else 20
        if size < header:
            return CUT, stop
        ethertype = u16_big(data, start + 14 if link_type == LINUX_SLL else start)
        if ethertype == _LLC:
            return _snap(data, start + header, stop)
        return _untagged(data, ethertype, start + header, stop)
    if link_type in (NULL, LOOP):
        return _loopback(data, start, stop)
    if link_type == RAW_IPV4:
        return IPV4, start
    if link_type == RAW_IPV6:
        return IPV6, start
    if link_type in RAW:
        if not size:
            return CUT, start
        version = byte(data, start) >> 4
        return (IPV4 if version == 4 else IPV6 if version == 6 else NOT_IP), start
    return UNSUPPORTED, start


@inlined
def _untagged(data: Bytes, ethertype: int, at: int, stop: int) -> tuple[int, int]:
    tags = 0
    while ethertype in (0x8100, 0x88A8, 0x9100):
        if tags == VLAN_TAGS_MAX:
            return TOO_MANY_TAGS, at
        if at + 4 > stop:
            return CUT, stop
        ethertype = u16_big(data, at + 2)
        at += 4
        tags += 1
    if ethertype <= 1500 and tags:
        return _snap(data, at, stop)
    return ethertype, at


@inlined
def _snap(data: Bytes, at: int, stop: int) -> tuple[int, int]:
    if at + _SNAP_BYTES > stop:
        return CUT, stop
    if u32_big(data, at) != 0xAAAA0300 or u16_big(data, at + 4):
        return NOT_SNAP, at
    ethertype = u16_big(data, at + 6)
    return (NOT_SNAP if ethertype <= 1500 else ethertype), at + _SNAP_BYTES


@inlined
def _loopback(data: Bytes, at: int, stop: int) -> tuple[int, int]:
    if at + 4 > stop:
        return CUT, stop
    family = u32_little(data, at)
    if family > 0xFFFF:
        family = u32_big(data, at)
    if family == 2:
        return IPV4, at + 4
    if family in (10, 23, 24, 28, 30):
        return IPV6, at + 4
    return NOT_IP, at + 4
