"""Whether an INIT agrees on low latency: the batches after it have longer prefixes then (§9).

This is a quick look at the bytes. The survey compares its result with the decoded message
(`regularity/regularity_kernel.py`), so that a misread INIT only makes its pair irregular.
"""

from __future__ import annotations

from typing import Final

from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.scan.numbers import Bytes, byte
from zenlake.wire.headers import HAS_EXTENSIONS, HAS_SIZES, IS_ANSWER

_ENCODING: Final = 0x60
_UNIT: Final = 0x00
_NUMBER: Final = 0x20
_BYTES: Final = 0x40
_LOW_LATENCY: Final = 0x05
"""Id of the extension, among those without content."""
_NUMBER_BYTES_MAX: Final = 9
_TOO_LONG: Final = 1 << 28
"""Longer than any INIT: larger numbers are cut to this."""


@inlined
def agrees_on_low_latency(data: Bytes, begin: int, stop: int) -> bool:
    """The bytes of an INIT are header, version, identity, sizes, cookie, extensions (§14)."""
    if begin + 3 > stop:
        return False
    header = byte(data, begin)
    at = begin + 4 + (byte(data, begin + 2) >> 4)
    if header & HAS_SIZES:
        at += 3
    if header & IS_ANSWER:
        size, at = _number(data, at, stop)
        at += size
    more = header & HAS_EXTENSIONS
    while more and at < stop:
        extension = byte(data, at)
        at += 1
        encoding = extension & _ENCODING
        if encoding == _UNIT and extension & 0x0F == _LOW_LATENCY:
            return True
        if encoding in (_NUMBER, _BYTES):
            size, at = _number(data, at, stop)
            if encoding == _BYTES:
                at += size
        elif encoding != _UNIT:
            return False
        more = extension & HAS_EXTENSIONS
    return False


@inlined
def _number(data: Bytes, at: int, stop: int) -> tuple[int, int]:
    """A variable-length integer and the offset after it; reads nothing beyond `stop`."""
    value, count = 0, 0
    while at < stop and count < _NUMBER_BYTES_MAX:
        part = byte(data, at)
        at += 1
        value = min(value | (part & 0x7F) << min(7 * count, 28), _TOO_LONG)
        count += 1
        if part < 0x80:
            break
    return value, at
