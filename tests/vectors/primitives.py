"""Integers, encodings and timestamps (the wire reference §12.1)."""

from __future__ import annotations

from tests.vectors.vector import EncodingVector, TimestampVector, ZintVector, zid
from zenlake.wire import Encoding, Timestamp

ZINTS = (
    ZintVector(1, "00", 0),
    ZintVector(2, "7f", 127),
    ZintVector(3, "80 01", 128),
    ZintVector(4, "ac 02", 300),
    ZintVector(5, "ff 7f", 16383),
    ZintVector(6, "80 80 01", 16384),
    ZintVector(7, "ff ff 03", 65535),
    ZintVector(8, "ff ff ff 7f", 268435455),
    ZintVector(9, "ff ff ff ff 0f", 4294967295),
    ZintVector(10, "ff ff ff ff ff ff ff 7f", 72057594037927935),
    ZintVector(11, "80 80 80 80 80 80 80 80 01", 72057594037927936),
    ZintVector(12, "80 80 80 80 80 80 80 80 80", 9223372036854775808),
    ZintVector(13, "ff ff ff ff ff ff ff ff ff", 18446744073709551615),
    ZintVector(14, "e1 cb 9b d1 cf 9f ba be f7", 17833384797706577377, "W"),
)

ENCODINGS = (
    EncodingVector("08", "text/plain", Encoding(4)),
    EncodingVector("0a", "application/json", Encoding(5)),
    EncodingVector("09 05 75 74 66 2d 38", "text/plain;utf-8", Encoding(4, b"utf-8")),
    EncodingVector(
        "ff ff 07 0a 66 6f 6f 2f 62 61 72 3b 76 31", "foo/bar;v1", Encoding(0xFFFF, b"foo/bar;v1")
    ),
)

TIMESTAMPS = (
    TimestampVector(
        "a5 ba 96 d2 99 d9 c0 fc 6a 05 50 40 30 20 10",
        Timestamp(0x6AF902C99A459D25, zid("1020304050")),
    ),
)
