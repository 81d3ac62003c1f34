"""Noncanonical encodings: messages longer than their fields need, or with reserved bits set.

The shortest size of a message is computed from its columns. A message of that size has every
integer in its shortest form. A longer one may be noncanonical: then the rules about it
(`rules/noncanonical.py`) are evaluated for its batch. A field that is not counted here makes a
message longer, so a new field of the protocol cannot be forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.columnar.jit import inlined
from zenlake.columnar.memory import get_long, get_small, get_word, load
from zenlake.lake.fast_reader.screening._generated import codes
from zenlake.wire.headers import (
    HAS_EXTENSIONS,
    HAS_SUFFIX,
    KEEP_ALIVE_ID,
    PRIORITY_EXTENSION,
    QOS_EXTENSION,
)

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer, Table

_RARE: Final = codes.HAS_NETWORK_TIMESTAMP | codes.HAS_BUDGET | codes.HAS_BODY_SHM
"""So rare that their size is not computed."""


@inlined
def may_be_noncanonical(
    buf: Buffer, table: Table, room: int, count: int, row: int, kind: int
) -> bool:
    """Whether a frequent message may differ from what our encoder would write."""
    if kind == codes.FRAME or kind == codes.FRAGMENT:
        return _is_noncanonical_carrier(buf, table, room, count, row, kind)
    if kind == codes.KEEP_ALIVE:
        return load(buf, get_word(table, room, codes.OFFSET_COLUMN, row)) != KEEP_ALIVE_ID
    if kind == codes.PUSH_PUT or kind == codes.PUSH_DEL or kind == codes.REQUEST:
        return _is_noncanonical_message(buf, table, room, row, kind)
    if codes.RESPONSE_FINAL <= kind <= codes.RESPONSE_ERR:
        return _is_noncanonical_message(buf, table, room, row, kind)
    return False


@inlined
def _integer(value: int) -> int:
    """The number of bytes of a variable-length integer (wire reference §1.2)."""
    if value < 0:
        return 9
    size = 1
    while value > 0x7F and size < 9:
        value >>= 7
        size += 1
    return size


@inlined
def _stretch(size: int) -> int:
    """A length, and so many bytes."""
    return _integer(size) + size


@inlined
def _encoding(table: Table, room: int, row: int, present: int) -> int:
    if not present & codes.HAS_ENCODING:
        return 0
    id = get_word(table, room, codes.ENCODING_ID_COLUMN, row)
    if not get_word(table, room, codes.ENCODING_SCHEMA_OFFSET_COLUMN, row):
        return _integer(id << 1)
    return _integer(id << 1 | 1) + _stretch(
        get_word(table, room, codes.ENCODING_SCHEMA_LENGTH_COLUMN, row)
    )


@inlined
def _source(table: Table, room: int, row: int) -> int:
    size = get_word(table, room, codes.SOURCE_ZID_LENGTH_COLUMN, row)
    if not size:
        return 0
    numbers = _integer(get_word(table, room, codes.SOURCE_EID_COLUMN, row)) + _integer(
        get_word(table, room, codes.SOURCE_SN_COLUMN, row)
    )
    return 1 + _stretch(1 + size + numbers)


@inlined
def _attachment(table: Table, room: int, row: int) -> int:
    if not get_word(table, room, codes.ATTACHMENT_OFFSET_COLUMN, row):
        return 0
    return 1 + _stretch(get_word(table, room, codes.ATTACHMENT_LENGTH_COLUMN, row))


@inlined
def _data(table: Table, room: int, row: int, kind: int, present: int) -> int:
    """PUT, DEL or ERR."""
    size = (
        1
        + _encoding(table, room, row, present)
        + _source(table, room, row)
        + _attachment(table, room, row)
    )
    if present & codes.HAS_TIMESTAMP:
        size += _integer(get_long(table, room, codes.TIMESTAMP_TIME_COLUMN, row))
        size += _stretch(get_word(table, room, codes.TIMESTAMP_ID_LENGTH_COLUMN, row))
    if kind != codes.PUSH_DEL and kind != codes.RESPONSE_REPLY_DEL:
        size += _stretch(get_word(table, room, codes.PAYLOAD_LENGTH_COLUMN, row))
    return size


@inlined
def _query(table: Table, room: int, row: int, present: int) -> int:
    size = 1 + _source(table, room, row) + _attachment(table, room, row)
    if present & codes.HAS_CONSOLIDATION:
        size += 1
    if get_word(table, room, codes.PARAMETERS_OFFSET_COLUMN, row):
        size += _stretch(get_word(table, room, codes.PARAMETERS_LENGTH_COLUMN, row))
    if present & codes.HAS_ENCODING:
        body = _encoding(table, room, row, present) + get_word(
            table, room, codes.PAYLOAD_LENGTH_COLUMN, row
        )
        size += 1 + _stretch(body)
    return size


@inlined
def _extensions(table: Table, room: int, row: int, present: int) -> int:
    """Of PUSH, REQUEST, RESPONSE and RESPONSE_FINAL."""
    size = 2 if present & codes.HAS_QOS else 0
    if present & codes.HAS_NODE_ID:
        size += 1 + _integer(get_word(table, room, codes.NODE_ID_COLUMN, row))
    if present & codes.HAS_TARGET:
        size += 2
    if present & codes.HAS_TIMEOUT_MS:
        size += 1 + _integer(get_long(table, room, codes.TIMEOUT_MS_COLUMN, row))
    zid = get_word(table, room, codes.RESPONDER_ZID_LENGTH_COLUMN, row)
    if zid:
        size += 1 + _stretch(
            1 + zid + _integer(get_word(table, room, codes.RESPONDER_EID_COLUMN, row))
        )
    return size


@inlined
def _is_noncanonical_message(buf: Buffer, table: Table, room: int, row: int, kind: int) -> bool:
    present, offset = (
        get_long(table, room, codes.PRESENT_COLUMN, row),
        get_word(table, room, codes.OFFSET_COLUMN, row),
    )
    if present & _RARE or get_small(table, room, codes.UNKNOWN_EXTENSIONS_COLUMN, row):
        return True
    if get_word(table, room, codes.STAMPS_OFFSET_COLUMN, row) or get_small(
        table, room, codes.SHM_COLUMN, row
    ):
        return True
    header, suffix = load(buf, offset), get_word(table, room, codes.KEY_SUFFIX_LENGTH_COLUMN, row)
    head, body, reply = 1, 0, 0
    if kind != codes.PUSH_PUT and kind != codes.PUSH_DEL:
        head += _integer(get_word(table, room, codes.REQUEST_ID_COLUMN, row))
    if kind == codes.RESPONSE_FINAL:
        if header & 0x60:
            return True
    else:
        if header & HAS_SUFFIX and not suffix:
            return True
        head += _integer(get_word(table, room, codes.KEY_SCOPE_COLUMN, row)) + (
            _stretch(suffix) if suffix else 0
        )
        if kind == codes.REQUEST:
            body = _query(table, room, row, present)
        else:
            body = _data(table, room, row, kind, present)
    if kind == codes.RESPONSE_REPLY_PUT or kind == codes.RESPONSE_REPLY_DEL:
        reply = 2 if present & codes.HAS_CONSOLIDATION else 1
    length = get_word(table, room, codes.LENGTH_COLUMN, row)
    if length != head + _extensions(table, room, row, present) + reply + body:
        return True
    if present & codes.HAS_QOS and _is_noncanonical_byte(buf, offset + head, QOS_EXTENSION, 0xC0):
        return True
    if kind == codes.RESPONSE_FINAL:
        return False
    inside = offset + length - body
    if _has_reserved_bits(buf, inside, inside - reply, kind):
        return True
    return _has_noncanonical_ids(buf, table, room, row)


@inlined
def _is_noncanonical_byte(buf: Buffer, at: int, header: int, reserved: int) -> bool:
    """Whether the first extension is another one, or its byte has reserved bits set."""
    value = load(buf, at + 1)
    return load(buf, at) & ~HAS_EXTENSIONS != header or value & reserved != 0 or value > 0x7F


@inlined
def _has_reserved_bits(buf: Buffer, inside: int, reply: int, kind: int) -> bool:
    """Whether the header of a body, or of the reply around it, has reserved bits set."""
    is_reply = kind == codes.RESPONSE_REPLY_PUT or kind == codes.RESPONSE_REPLY_DEL
    if is_reply and load(buf, reply) & 0x40:
        return True
    if kind == codes.PUSH_DEL or kind == codes.RESPONSE_REPLY_DEL:
        return load(buf, inside) & 0x40 != 0
    return kind == codes.RESPONSE_ERR and load(buf, inside) & 0x20 != 0


@inlined
def _has_noncanonical_ids(buf: Buffer, table: Table, room: int, row: int) -> bool:
    """Whether ids have trailing zeros, or bits besides their lengths."""
    source, size = (
        get_word(table, room, codes.SOURCE_ZID_OFFSET_COLUMN, row),
        get_word(table, room, codes.SOURCE_ZID_LENGTH_COLUMN, row),
    )
    if size and _is_noncanonical_id(buf, source, size, True):
        return True
    source, size = (
        get_word(table, room, codes.RESPONDER_ZID_OFFSET_COLUMN, row),
        get_word(table, room, codes.RESPONDER_ZID_LENGTH_COLUMN, row),
    )
    if size and _is_noncanonical_id(buf, source, size, True):
        return True
    source, size = (
        get_word(table, room, codes.TIMESTAMP_ID_OFFSET_COLUMN, row),
        get_word(table, room, codes.TIMESTAMP_ID_LENGTH_COLUMN, row),
    )
    return bool(size and _is_noncanonical_id(buf, source, size, False))


@inlined
def _is_noncanonical_id(buf: Buffer, at: int, size: int, has_nibble: bool) -> bool:
    if has_nibble and load(buf, at - 1) != size - 1 << 4:
        return True
    return size > 1 and load(buf, at + size - 1) == 0


@inlined
def _is_noncanonical_carrier(
    buf: Buffer, table: Table, room: int, count: int, row: int, kind: int
) -> bool:
    present, offset = (
        get_long(table, room, codes.PRESENT_COLUMN, row),
        get_word(table, room, codes.OFFSET_COLUMN, row),
    )
    if get_small(table, room, codes.UNKNOWN_EXTENSIONS_COLUMN, row):
        return True
    head = 1 + _integer(get_word(table, room, codes.SN_COLUMN, row))
    if present & codes.HAS_PRIORITY:
        if _is_noncanonical_byte(buf, offset + head, PRIORITY_EXTENSION, 0xF8):
            return True
        head += 2
    if kind == codes.FRAGMENT:
        marks = get_small(table, room, codes.FRAGMENT_FIRST_COLUMN, row) + get_small(
            table, room, codes.FRAGMENT_DROP_COLUMN, row
        )
        size = head + marks + get_word(table, room, codes.PAYLOAD_LENGTH_COLUMN, row)
        return get_word(table, room, codes.LENGTH_COLUMN, row) != size
    if load(buf, offset) & 0x40:
        return True
    # Compare with the offset of its first message; an empty FRAME has none.
    if row + 1 == count:
        return False
    return get_word(table, room, codes.OFFSET_COLUMN, row + 1) != offset + head
