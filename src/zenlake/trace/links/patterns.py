"""Patterns: places in a stream where a unit might begin, found at the speed of regular expressions.

A pattern may match where no unit is; it must match where one is, or nobody looks there.
"""

from __future__ import annotations

import re
from typing import Final

from zenlake.trace.links.evidence import FAR
from zenlake.trace.links.units import COMPRESSED, LONG, LOW_LATENCY, PLAIN, SHORT, WEBSOCKET

PATTERN_BYTES: Final = 12
"""No pattern looks farther than that."""
MODES: Final = ((SHORT, PLAIN), (SHORT, COMPRESSED), (LONG, LOW_LATENCY), (WEBSOCKET, PLAIN))
"""Cut and form of units, in the order they are tried where nothing is known."""

# What a unit may begin with, as far as a pattern can tell: FRAME or FRAGMENT, a sequence number,
# then a network message, an extension or a piece; or INIT, or KEEP_ALIVE alone.
_SN: Final = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_NETWORK: Final = rb"[\x19-\x1f\x39-\x3f\x59-\x5f\x79-\x7f\x99-\x9f\xb9-\xbf\xd9-\xdf\xf9-\xff]"
_HEADS: Final = (
    rb"(?:[\x05\x25]"
    + _SN
    + _NETWORK
    + rb"|[\x06\x26\x46\x66]"
    + _SN
    + rb"|[\x85\xa5]"
    + _SN
    + rb"[\x31\xb1]|[\x86\xa6\xc6\xe6]"
    + _SN
    + rb"[\x02\x31\x82\xb1])"
)
_FIRST: Final = rb"[\x01-\x06\x21-\x26\x41-\x46\x61-\x66\x81-\x86\xa1-\xa6\xc1-\xc6\xe1-\xe6]"
"""The first byte of any transport message; what a client sends is masked."""
_INIT: Final = rb"[\x01\x21\x41\x61\x81\xa1\xc1\xe1]\x09"
_PATTERNS: Final = {
    (SHORT, PLAIN): re.compile(rb"(?s)(?=\x01\x00\x04|..(?:" + _HEADS + rb"|" + _INIT + rb"))"),
    (SHORT, COMPRESSED): re.compile(rb"(?s)(?=\x02\x00\x00\x04|..(?:\x01|\x00" + _HEADS + rb"))"),
    (LONG, LOW_LATENCY): re.compile(rb"(?s)(?=..\x00\x00(?:[\x03\x04]|" + _NETWORK + rb"))"),
    (WEBSOCKET, PLAIN): re.compile(
        rb"(?s)(?=\x82(?:[\x80-\xff]|[\x00-\x7d]"
        + _FIRST
        + rb"|\x7e.."
        + _FIRST
        + rb"|\x7f\x00{5}..."
        + _FIRST
        + rb"))"
    ),
}
_DEFAULT_MASK: Final = 0x0FFF_FFFF
_PLAIN_HEADS: Final = frozenset(
    b"\x01\x41\x81\xc1\x21\x61\xa1\xe1\x02\x42\x82\xc2\x22\x62\xa2\xe2"
    b"\x03\x23\x04\x05\x25\x85\xa5\x06\x26\x46\x66\x86\xa6\xc6\xe6"
)
_WEBSOCKET_HEADS: Final = frozenset(b"\x00\x02\x80\x82\x88\x89\x8a")
_COMPRESSED_HEADS: Final = frozenset(b"\x00\x01")


def pattern(mode: tuple[int, int]) -> re.Pattern[bytes]:
    """Of units whose sequence numbers may be anything."""
    return _PATTERNS[mode]


def numbered_pattern(before: dict[int, int], mask: int) -> re.Pattern[bytes] | None:
    """Of plain units whose numbers follow those `before`, by channel; None where numbers are too
    short to tell much. It matches so seldom that even long searches cost little.
    """
    if mask not in (0, _DEFAULT_MASK):
        return None
    alternatives: list[bytes] = []
    for key, last in before.items():
        high = {(last + ahead & _DEFAULT_MASK) >> 14 for ahead in range(1, FAR + 1, 1 << 13)}
        high.add((last + FAR & _DEFAULT_MASK) >> 14)
        if last < 0 or min(high) < 1:
            return None
        alternatives.append(_channel_heads(key) + b"[\x80-\xff]{2}(?:" + _high_bytes(high) + b")")
    if not alternatives:
        return None
    return re.compile(rb"(?s)(?=\x01\x00\x04|..(?:" + b"|".join(alternatives) + rb"))")


def may_go_on(framing: int, form: int, data: bytes, at: int) -> bool:
    """Whether the unit after one can begin here, as far as its first byte tells.

    It is asked before a unit is read at all, because it is so cheap.
    """
    if framing == LONG:
        return at + 3 >= len(data) or (data[at + 2] == 0 and data[at + 3] == 0)
    if framing == WEBSOCKET:
        return at >= len(data) or data[at] in _WEBSOCKET_HEADS
    if at + 2 >= len(data):
        return True
    return data[at + 2] in (_COMPRESSED_HEADS if form == COMPRESSED else _PLAIN_HEADS)


def _channel_heads(key: int) -> bytes:
    """The first bytes of FRAME and FRAGMENT of a channel, with and without extensions."""
    reliable = (key & 1) << 5
    heads = [0x05, 0x85, 0x06, 0x46, 0x86, 0xC6]
    return b"[" + b"".join(b"\\x%02x" % (head | reliable) for head in heads) + b"]"


def _high_bytes(high: set[int]) -> bytes:
    """The third and, where there is one, the fourth byte of such numbers."""
    found: list[bytes] = []
    for value in sorted(high):
        if value <= 0x7F:
            found.append(b"\\x%02x" % value)
        else:
            found.append(b"\\x%02x\\x%02x" % (0x80 | value & 0x7F, value >> 7))
    return b"|".join(found)
