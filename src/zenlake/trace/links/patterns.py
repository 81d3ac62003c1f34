"""Patterns: regular expressions that find places in a stream where a unit may begin.

A pattern may match where no unit is, but it must match every unit: other places are not tried.
"""

from __future__ import annotations

import re
from typing import Final

from zenlake.trace.links.units import COMPRESSED, LONG, LOW_LATENCY, PLAIN, SHORT, WEBSOCKET

PATTERN_BYTES: Final = 12
"""The most bytes that a pattern looks at."""
MODES: Final = ((SHORT, PLAIN), (SHORT, COMPRESSED), (LONG, LOW_LATENCY), (WEBSOCKET, PLAIN))
"""Framing and form of units, in the order in which they are tried."""

# A unit begins with FRAME or FRAGMENT, a sequence number, then a network message, an extension or
# a payload; or with INIT, or is a KEEP_ALIVE. Each pattern begins with a set of bytes, because `re`
# finds a set much faster than anything else, and looks around from there.
_SN: Final = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_NETWORK: Final = rb"[\x19-\x1f\x39-\x3f\x59-\x5f\x79-\x7f\x99-\x9f\xb9-\xbf\xd9-\xdf\xf9-\xff]"
_FRAME: Final = rb"[\x05\x25]", _SN + _NETWORK
_FRAME_EXTENDED: Final = rb"[\x85\xa5]", _SN + rb"[\x31\xb1]"
_FRAGMENT: Final = rb"[\x06\x26\x46\x66]", _SN
_FRAGMENT_EXTENDED: Final = rb"[\x86\xa6\xc6\xe6]", _SN + rb"[\x02\x31\x82\xb1]"
_INIT: Final = rb"[\x01\x21\x41\x61\x81\xa1\xc1\xe1]", rb"\x09"
_CARRIERS: Final = (_FRAME, _FRAME_EXTENDED, _FRAGMENT, _FRAGMENT_EXTENDED)
_FIRST: Final = rb"[\x01-\x06\x21-\x26\x41-\x46\x61-\x66\x81-\x86\xa1-\xa6\xc1-\xc6\xe1-\xe6]"
"""The first byte of any transport message. (WebSocket clients mask theirs.)"""


def _looked_behind(pairs: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """A pattern for each pair, which looks behind at the matched byte, and ahead at the next."""
    return b"|".join(rb"(?<=" + head + rb")(?=" + rest + rb")" for head, rest in pairs)


_PLAIN: Final = (
    rb"[\x01\x21\x41\x61\x81\xa1\xc1\xe1\x04\x05\x25\x85\xa5\x06\x26\x46\x66\x86\xa6\xc6\xe6](?:"
    + _looked_behind((*_CARRIERS, _INIT))
    + rb"|(?<=\x01\x00\x04))"
)
_COMPRESSED: Final = (
    rb"[\x00\x01](?:(?<=\x01)|(?=\x04)(?<=\x02\x00\x00)|(?=(?:"
    + b"|".join(head + rest for head, rest in _CARRIERS)
    + rb")))"
)
_PATTERNS: Final = {
    (SHORT, PLAIN): (re.compile(_PLAIN), 2),
    (SHORT, COMPRESSED): (re.compile(_COMPRESSED), 2),
    (LONG, LOW_LATENCY): (re.compile(rb"\x00(?=\x00(?:[\x03\x04]|" + _NETWORK + rb"))"), 2),
    (WEBSOCKET, PLAIN): (
        re.compile(
            rb"(?s)\x82(?=[\x80-\xff]|[\x00-\x7d]"
            + _FIRST
            + rb"|\x7e.."
            + _FIRST
            + rb"|\x7f\x00{5}..."
            + _FIRST
            + rb")"
        ),
        0,
    ),
}
_PLAIN_HEADS: Final = frozenset(
    b"\x01\x41\x81\xc1\x21\x61\xa1\xe1\x02\x42\x82\xc2\x22\x62\xa2\xe2"
    b"\x03\x23\x04\x05\x25\x85\xa5\x06\x26\x46\x66\x86\xa6\xc6\xe6"
)
_WEBSOCKET_HEADS: Final = frozenset(b"\x00\x02\x80\x82\x88\x89\x8a")
_COMPRESSED_HEADS: Final = frozenset(b"\x00\x01")


def pattern(mode: tuple[int, int]) -> tuple[re.Pattern[bytes], int]:
    """The pattern, and how many bytes before its match the unit begins."""
    return _PATTERNS[mode]


def may_go_on(framing: int, form: int, data: bytes, at: int) -> bool:
    """Whether the next unit can begin at `at`, by its first byte.

    This check is cheap, so it comes before a unit is decoded.
    """
    if framing == LONG:
        return at + 3 >= len(data) or (data[at + 2] == 0 and data[at + 3] == 0)
    if framing == WEBSOCKET:
        return at >= len(data) or data[at] in _WEBSOCKET_HEADS
    if at + 2 >= len(data):
        return True
    return data[at + 2] in (_COMPRESSED_HEADS if form == COMPRESSED else _PLAIN_HEADS)
