"""Whether bytes are UTF-8, as strict as `bytes.decode`: no surrogates, nothing overlong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.columnar.jit import kernel
from zenlake.columnar.memory import load

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer


@kernel
def is_utf8(buf: Buffer, pos: int, end: int) -> bool:
    while pos < end and load(buf, pos) < 0x80:
        pos += 1
    return pos == end or _is_utf8_beyond_ascii(buf, pos, end)


@kernel
def _is_utf8_beyond_ascii(buf: Buffer, pos: int, end: int) -> bool:
    while pos < end:
        first = load(buf, pos)
        pos += 1
        if first < 0x80:
            continue
        # The second byte shows overlong forms, surrogates and too large numbers.
        low, high, more = 0x80, 0xBF, 1
        if first < 0xC2 or first > 0xF4:
            return False
        if first >= 0xF0:
            more = 3
            low = 0x90 if first == 0xF0 else 0x80
            high = 0x8F if first == 0xF4 else 0xBF
        elif first >= 0xE0:
            more = 2
            low = 0xA0 if first == 0xE0 else 0x80
            high = 0x9F if first == 0xED else 0xBF
        if pos + more > end or load(buf, pos) < low or load(buf, pos) > high:
            return False
        for index in range(pos + 1, pos + more):
            if load(buf, index) < 0x80 or load(buf, index) > 0xBF:
                return False
        pos += more
    return True
