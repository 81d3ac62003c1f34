"""Cookie: the state of an acceptor between INIT and OPEN (wire reference §5.5).

It is sent to the opener in InitAck and returned in OpenSyn, from the same address:

    2  milliseconds, modulo 65,536          1  role, QoSLink follows, length of the id
    1  resolution, QoS, low latency, ...    2  batch size
    3  QoSLink, if there is one             1  patch, if there is one
    n  the peer's id                       12  tag

The tag covers all of it, the whole time and the address of the opener. Its key never leaves this
process, so a cookie of another address, another node or an earlier run is invalid. Nothing in it is
secret: the opener knows its own terms. It is small because an InitAck is sent to an address that
may be forged and must not be much longer than the InitSyn (see address_check.py).
"""

from __future__ import annotations

import hmac
from typing import Final

from zenlake.errors import ZenlakeError
from zenlake.limits import HANDSHAKE_SECONDS_MAX
from zenlake.protocol.handshake import resolution_of, set_sizes
from zenlake.wire import Init, QoSLink, Resolution, WhatAmI, ZenohId
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES

KEY_BYTES: Final = 32
_TIME_BYTES: Final = 2
_TIME_MASK: Final = 0xFFFF
_TERMS_BYTES: Final = 5  # at least: two of flags, the batch size, an id of one byte
_TAG_BYTES: Final = 12
_ROLE: Final = 0x07
_HAS_QOS_LINK: Final = 0x08
_RESOLUTION: Final = 0x0F
_QOS: Final = 0x10
_LOW_LATENCY: Final = 0x20
_COMPRESSION: Final = 0x40
_HAS_PATCH: Final = 0x80


class Seal:
    """The key of one link, or of all datagram links of a node."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def cookie(self, terms: Init, now: float, source: str = "") -> bytes:
        now_ms = int(now * 1000)
        content = (now_ms & _TIME_MASK).to_bytes(_TIME_BYTES, "little") + _packed(terms)
        return content + self._tag(content, now_ms, source)

    def open(self, cookie: bytes, now: float, source: str = "") -> Init | None:
        """The terms, if this key sealed them for that source, and not too long ago."""
        if len(cookie) < _TIME_BYTES + _TERMS_BYTES + _TAG_BYTES:
            return None
        content, tag = cookie[:-_TAG_BYTES], cookie[-_TAG_BYTES:]
        now_ms = int(now * 1000)
        # The latest time with these two low bytes; if it was an earlier one, the tag is wrong.
        stamp = int.from_bytes(content[:_TIME_BYTES], "little")
        age_ms = (now_ms - stamp) & _TIME_MASK
        if age_ms > HANDSHAKE_SECONDS_MAX * 1000:
            return None
        if not hmac.compare_digest(self._tag(content, now_ms - age_ms, source), tag):
            return None
        try:
            return _unpacked(content[_TIME_BYTES:])
        except (ZenlakeError, ValueError):
            return None  # cannot happen: this node wrote these bytes

    def nonce(self, cookie: bytes) -> int:
        """The challenge for the opener's password, derived from the cookie with our key."""
        return int.from_bytes(hmac.digest(self._key, b"nonce" + cookie, "sha256")[:8], "little")

    def _tag(self, content: bytes, at_ms: int, source: str) -> bytes:
        address = source.encode()
        covered = b"cookie" + len(address).to_bytes(2, "little") + address
        covered += at_ms.to_bytes(8, "little", signed=True) + content
        return hmac.digest(self._key, covered, "sha256")[:_TAG_BYTES]


def _packed(terms: Init) -> bytes:
    zid = terms.zid.raw
    size = DEFAULT_BATCH_BYTES if terms.batch_size is None else terms.batch_size
    first = int(terms.whatami) | (len(zid) - 1) << 4
    second = resolution_of(terms).byte & _RESOLUTION
    more = b""
    if terms.qos_link is not None:
        first |= _HAS_QOS_LINK
        more += terms.qos_link.value.to_bytes(3, "little")
    if terms.patch is not None:
        second |= _HAS_PATCH
        more += bytes([terms.patch & 0xFF])
    second |= _QOS if terms.qos else 0
    second |= _LOW_LATENCY if terms.lowlatency else 0
    second |= _COMPRESSION if terms.compression else 0
    return bytes([first, second]) + size.to_bytes(2, "little") + more + zid


def _unpacked(data: bytes) -> Init:
    first, second = data[0], data[1]
    pos = 4
    zid_bytes = (first >> 4) + 1
    terms = Init(WhatAmI(first & _ROLE), ZenohId(data[-zid_bytes:]))
    set_sizes(terms, Resolution(second & _RESOLUTION), int.from_bytes(data[2:4], "little"))
    if first & _HAS_QOS_LINK:
        terms.qos_link = QoSLink(int.from_bytes(data[pos : pos + 3], "little"))
        pos += 3
    if second & _HAS_PATCH:
        terms.patch = data[pos]
    terms.qos = second & _QOS != 0
    terms.lowlatency = second & _LOW_LATENCY != 0
    terms.compression = second & _COMPRESSION != 0
    return terms
