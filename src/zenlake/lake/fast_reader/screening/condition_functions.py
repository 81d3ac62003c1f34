"""Functions and flags that compiled conditions use (see `vocabulary.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.columnar.jit import inlined
from zenlake.columnar.memory import get_long, get_small, get_word, load
from zenlake.lake.fast_reader.screening._generated import codes
from zenlake.wire.defaults import DEFAULT_QOS_BYTE

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer, Table

BAD: Final = 1
EMPTY: Final = 2
WIDE: Final = 4
"""Flags of keys: not canonical, empty, with wildcards."""

_NS_PER_S: Final = 1_000_000_000
_LAST_ASCII: Final = 0x7F


@inlined
def qos_byte(table: Table, room: int, row: int, present: int) -> int:
    return (
        get_small(table, room, codes.QOS_COLUMN, row)
        if present & codes.HAS_QOS
        else DEFAULT_QOS_BYTE
    )


@inlined
def is_key_missing(table: Table, room: int, row: int, key_code: int) -> bool:
    """Whether the key has an alias that was not declared."""
    return key_code < 0 and get_word(table, room, codes.KEY_SCOPE_COLUMN, row) != 0


@inlined
def is_empty_frame(table: Table, room: int, count: int, row: int) -> bool:
    """The messages of a FRAME are the next rows."""
    if row + 1 == count:
        return True
    unit = get_word(table, room, codes.UNIT_COLUMN, row)
    if get_word(table, room, codes.UNIT_COLUMN, row + 1) != unit:
        return True
    return get_small(table, room, codes.KIND_COLUMN, row + 1) < codes.FIRST_NETWORK


@inlined
def is_schema_ascii(buf: Buffer, table: Table, room: int, row: int) -> bool:
    begin = get_word(table, room, codes.ENCODING_SCHEMA_OFFSET_COLUMN, row)
    size = get_word(table, room, codes.ENCODING_SCHEMA_LENGTH_COLUMN, row)
    bits = 0
    for at in range(begin, begin + size):
        bits |= load(buf, at)
    return bits <= _LAST_ASCII


@inlined
def stamp_ns(table: Table, room: int, row: int) -> int:
    """Nanoseconds since 1970, rounded down: never more than one less than `Timestamp.ns`."""
    time = get_long(table, room, codes.TIMESTAMP_TIME_COLUMN, row)
    seconds, fraction = time >> 32 & 0xFFFF_FFFF, time & 0xFFFF_FFFF
    return seconds * _NS_PER_S + (fraction * _NS_PER_S >> 32)
