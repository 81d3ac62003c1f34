"""Segment: the TCP fields of a packet, exactly as `capture.ip` and `capture.transport` read them.

A segment is a row of numbers, which each packet overwrites.
"""

from __future__ import annotations

from typing import Final

from zenlake.capture.link_layer import IPV4, IPV6
from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.assemble.network import network_layer
from zenlake.lake.fast_reader.scan.numbers import Bytes, Numbers, byte, u16_big, u32_big
from zenlake.limits import IP_EXTENSION_HEADERS_MAX

# Kinds of packets.
OTHER: Final = 0
"""Not TCP, or not readable as TCP by the exact reader either."""
TCP: Final = 1
IN_FRAGMENTS: Final = 2
"""Part of a datagram that may be TCP."""
UDP: Final = 3

# Fields of a segment. The first are the key of its pair: the lower end before the higher.
PORTS: Final = 0
"""Both ports, and a bit above them for IPv6."""
LOWER: Final = 1
HIGHER: Final = 5
KEY_WORDS: Final = 9
SIDE: Final = 9
"""The sender: 0 is the lower end, 1 the higher."""
SEQ: Final = 10
ACK_SEQ: Final = 11
FLAGS: Final = 12
BEGIN: Final = 13
STOP: Final = 14
"""Positions of its payload in the window."""
MISSING: Final = 15
"""Bytes that the capture cut off."""
SEGMENT_WORDS: Final = 16

_TCP: Final = 6
_UDP: Final = 17
_NONE: Final = -1
_MAYBE: Final = -2


@inlined
def dissect(
    data: Bytes, start: int, captured: int, original: int, link_type: int, out: Numbers
) -> int:
    """Reads a packet; fills `out` for TCP, and only BEGIN and STOP for UDP."""
    size_end = start + captured
    ethertype, at = network_layer(data, start, size_end, link_type)
    claimed_end = start + max(original, captured)
    if ethertype == IPV4:
        protocol = _ipv4(data, at, size_end, claimed_end, out)
        words = 1
    elif ethertype == IPV6:
        protocol = _ipv6(data, at, size_end, claimed_end, out)
        words = 4
    else:
        return OTHER
    if protocol == _MAYBE:
        return IN_FRAGMENTS
    if protocol == _UDP:
        out[BEGIN] += 8
        return UDP
    if protocol != _TCP:
        return OTHER
    begin, stop = out[BEGIN], out[STOP]
    if stop - begin < 20:
        return OTHER
    header = byte(data, begin + 12)
    payload = begin + (header >> 4 << 2)
    if header < 0x50:
        return OTHER
    if payload > stop:
        if not out[MISSING]:
            return OTHER
        payload = stop
    out[BEGIN] = payload
    out[SEQ] = u32_big(data, begin + 4)
    out[ACK_SEQ] = u32_big(data, begin + 8)
    out[FLAGS] = byte(data, begin + 13)
    _sort_ends(out, u16_big(data, begin), u16_big(data, begin + 2), words)
    return TCP


@inlined
def _sort_ends(out: Numbers, source: int, destination: int, words: int) -> None:
    """The key is the same in both directions."""
    order = 0
    for word in range(words):
        if out[LOWER + word] != out[HIGHER + word]:
            order = -1 if out[LOWER + word] < out[HIGHER + word] else 1
            break
    if not order:
        order = 1 if source > destination else -1
    family = (1 if words == 4 else 0) << 32
    if order < 0:
        out[SIDE] = 0
        out[PORTS] = family | source << 16 | destination
        return
    out[SIDE] = 1
    out[PORTS] = family | destination << 16 | source
    for word in range(words):
        lower = out[HIGHER + word]
        out[HIGHER + word] = out[LOWER + word]
        out[LOWER + word] = lower


@inlined
def _ipv4(data: Bytes, at: int, size_end: int, claimed_end: int, out: Numbers) -> int:
    """The protocol. Writes BEGIN, STOP and MISSING to `out`."""
    if size_end < at + 20:
        return _NONE
    first, length = byte(data, at), u16_big(data, at + 2)
    fragment, protocol = u16_big(data, at + 6), byte(data, at + 9)
    begin = at + (first & 15) * 4
    stop = at + length if length else claimed_end
    if first >> 4 != 4 or begin < at + 20 or stop < begin or size_end < begin:
        return _NONE
    if fragment & 0x3FFF:
        return _MAYBE if protocol == _TCP else _NONE
    out[BEGIN] = begin
    out[STOP] = min(stop, size_end)
    out[MISSING] = max(stop - size_end, 0)
    for word in range(1, 4):
        out[LOWER + word] = 0
        out[HIGHER + word] = 0
    out[LOWER] = u32_big(data, at + 12)
    out[HIGHER] = u32_big(data, at + 16)
    return protocol


@inlined
def _ipv6(data: Bytes, at: int, size_end: int, claimed_end: int, out: Numbers) -> int:
    if size_end < at + 40 or byte(data, at) >> 4 != 6:
        return _NONE
    length, protocol = u16_big(data, at + 4), byte(data, at + 6)
    begin = at + 40
    stop = begin + length if length else claimed_end
    missing = max(stop - size_end, 0)
    stop -= missing
    headers = 0
    while _is_extension(protocol):
        headers += 1
        if headers > IP_EXTENSION_HEADERS_MAX or begin + 8 > stop:
            return _NONE
        kind, protocol = protocol, byte(data, begin)
        if kind == 44:  # fragment
            fragment = u16_big(data, begin + 2)
            if fragment & 0xFFF9:
                # Only the first fragment has the protocol, perhaps after more headers.
                is_first = not fragment & 0xFFF8
                return _MAYBE if is_first and (protocol == _TCP or _is_extension(protocol)) else -1
            begin += 8
        elif kind == 51:  # authentication
            begin += (byte(data, begin + 1) + 2) * 4
        else:
            begin += (byte(data, begin + 1) + 1) * 8
        if begin > stop:
            return _NONE
    out[BEGIN] = begin
    out[STOP] = stop
    out[MISSING] = missing
    for word in range(4):
        out[LOWER + word] = u32_big(data, at + 8 + 4 * word)
        out[HIGHER + word] = u32_big(data, at + 24 + 4 * word)
    return protocol


@inlined
def _is_extension(protocol: int) -> bool:
    return protocol in (0, 43, 44, 51, 60, 135)
