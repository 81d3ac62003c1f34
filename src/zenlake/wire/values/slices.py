"""Payloads that lie in shared memory: a list of slices instead of bytes (wire reference §10.3).

The data is not on the wire. The list (a count, then a kind byte and `<u8;z32>` for each slice:
kind 0 the bytes themselves, kind 1 a descriptor of shared memory) is kept in its encoded form, so
that recorded traffic is decoded and encoded again without a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.wire.primitives import Z32_MAX, Malformed, read_bytes_z32, read_small

if TYPE_CHECKING:
    from mypy_extensions import i64


def read_slices(buf: bytes, pos: i64, end: i64) -> tuple[bytes, i64]:
    """The encoded list of slices, whole."""
    start = pos
    count, pos = read_small(buf, pos, end, Z32_MAX)
    while count > 0:
        count -= 1
        if pos >= end:
            raise IndexError
        if buf[pos] > 1:
            raise Malformed(f"slice kind {buf[pos]} does not exist (0 bytes, 1 shared memory)")
        _, pos = read_bytes_z32(buf, pos + 1, end)
    return buf[start:pos], pos
