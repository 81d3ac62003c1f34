"""Reading integers, byte strings and texts in kernels, as `wire.primitives` and `wire.values` do.

A reader has the arguments `(buf, pos, end)` and returns the value and the next position, which is
a cause (negative) on an error. It compares the position with `end` before it reads a byte.

A 64-bit number above 2**63 is negative in compiled code and positive in plain Python, so a
comparison must check both bounds. Stored as an unsigned number it is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.columnar.causes import (
    BAD_SLICE,
    END,
    ID_SIZE,
    ID_ZERO,
    ITEMS_OVERRUN,
    MANDATORY,
    NOT_UTF8,
    OVERRUN,
    RESERVED,
    TOO_LARGE,
    TOO_MANY_EXTENSIONS,
    TOO_MANY_ITEMS,
)
from zenlake.columnar.jit import kernel
from zenlake.columnar.memory import load
from zenlake.columnar.utf8 import is_utf8
from zenlake.limits import EXTENSIONS_PER_MESSAGE_MAX

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer

_Z8_MAX: Final = 0xFF
_Z32_MAX: Final = 0xFFFF_FFFF
_ENCODING_MAX: Final = 0xFFFF << 1 | 1
_ZID_BYTES_MAX: Final = 16
_ENC: Final = 0x60
_Z64: Final = 0x20
_ZBUF: Final = 0x40
_MANDATORY_BIT: Final = 0x10


# --- numbers --------------------------------------------------------------------------------


@kernel
def read_small(buf: Buffer, pos: int, end: int, limit: int) -> tuple[int, int]:
    """A z8, z16 or z32, depending on `limit`."""
    if pos >= end:
        return 0, END
    value = load(buf, pos)
    if value < 0x80:
        return value, pos + 1
    return read_tail(buf, pos + 1, end, value, limit)


@kernel
def read_tail(buf: Buffer, pos: int, end: int, first: int, limit: int) -> tuple[int, int]:
    """The rest of a number whose first byte had its continuation bit set."""
    value = first & 0x7F
    shift = 7
    while True:
        if pos >= end:
            return 0, END
        byte = load(buf, pos)
        pos += 1
        if shift == 56:
            if byte != 0:
                return 0, TOO_LARGE
            break
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    if value > limit:
        return 0, TOO_LARGE
    return value, pos


@kernel
def read_z64(buf: Buffer, pos: int, end: int) -> tuple[int, int]:
    """Any 64 bits: the ninth byte has eight, and may set the sign of a machine integer."""
    value = 0
    shift = 0
    while shift < 56:
        if pos >= end:
            return 0, END
        byte = load(buf, pos)
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
    if pos >= end:
        return 0, END
    return value | load(buf, pos) << 56, pos + 1


@kernel
def read_u8(buf: Buffer, pos: int, end: int) -> tuple[int, int]:
    if pos >= end:
        return 0, END
    return load(buf, pos), pos + 1


@kernel
def read_u16(buf: Buffer, pos: int, end: int) -> tuple[int, int]:
    if pos + 2 > end:
        return 0, END
    return load(buf, pos) | load(buf, pos + 1) << 8, pos + 2


@kernel
def read_count(buf: Buffer, pos: int, end: int, limit: int) -> tuple[int, int]:
    """How many items follow; each has at least one byte."""
    count, pos = read_small(buf, pos, end, _Z32_MAX)
    if pos < 0:
        return 0, pos
    if count > limit:
        return 0, TOO_MANY_ITEMS
    if count > end - pos:
        return 0, ITEMS_OVERRUN
    return count, pos


# --- byte ranges ----------------------------------------------------------------------------


@kernel
def read_length(buf: Buffer, pos: int, end: int, limit: int) -> tuple[int, int]:
    """The length of a byte string that lies whole before `end`."""
    size, pos = read_small(buf, pos, end, limit)
    if pos >= 0 and size > end - pos:
        return 0, OVERRUN
    return size, pos


@kernel
def check_text(buf: Buffer, pos: int, end: int) -> int:
    """Where the text ends, or the cause."""
    return end if is_utf8(buf, pos, end) else NOT_UTF8


@kernel
def skip_slices(buf: Buffer, pos: int, end: int) -> int:
    """Skip a list of slices, some of them in shared memory."""
    count, pos = read_small(buf, pos, end, _Z32_MAX)
    if pos < 0:
        return pos
    while count > 0:
        count -= 1
        if pos >= end:
            return END
        if load(buf, pos) > 1:
            return BAD_SLICE
        size, pos = read_length(buf, pos + 1, end, _Z32_MAX)
        if pos < 0:
            return pos
        pos += size
    return pos


# --- values ---------------------------------------------------------------------------------


@kernel
def read_zid(buf: Buffer, pos: int, end: int, size: int) -> tuple[int, int]:
    """The length of an id without the zero bytes at its high end, and the next position."""
    if size == 0 or size > _ZID_BYTES_MAX:
        return 0, ID_SIZE
    stop = pos + size
    if stop > end:
        return 0, END
    while size > 0 and load(buf, pos + size - 1) == 0:
        size -= 1
    if size == 0:
        return 0, ID_ZERO
    return size, stop


@kernel
def read_timestamp(buf: Buffer, pos: int, end: int) -> tuple[int, int, int, int]:
    """The time, the offset of the id, its length, and the next position."""
    time, pos = read_z64(buf, pos, end)
    if pos < 0:
        return 0, 0, 0, pos
    size, pos = read_small(buf, pos, end, _Z32_MAX)
    if pos < 0:
        return 0, 0, 0, pos
    length, stop = read_zid(buf, pos, end, size)
    return time, pos, length, stop


@kernel
def read_encoding(buf: Buffer, pos: int, end: int) -> tuple[int, int, int, int]:
    """The id, the offset of the schema (0 if there is none), its length, the next position."""
    word, pos = read_small(buf, pos, end, _ENCODING_MAX)
    if pos < 0 or word & 1 == 0:
        return word >> 1, 0, 0, pos
    size, pos = read_length(buf, pos, end, _Z8_MAX)
    if pos < 0:
        return 0, 0, 0, pos
    return word >> 1, pos, size, pos + size


# --- extensions that a message does not define ------------------------------------------------


@kernel
def skip_extension(buf: Buffer, pos: int, end: int, header: int) -> int:
    """Skip the body of an extension whose header was read."""
    enc = header & _ENC
    if enc == 0:
        return pos
    if enc == _Z64:
        _, pos = read_z64(buf, pos, end)
        return pos
    if enc == _ZBUF:
        size, pos = read_length(buf, pos, end, _Z32_MAX)
        return pos if pos < 0 else pos + size
    return RESERVED


@kernel
def skip_unknown(buf: Buffer, pos: int, end: int, header: int) -> int:
    """Skip an unknown extension; an error if it is mandatory."""
    if header & _MANDATORY_BIT != 0 and header & _ENC != _ENC:
        return MANDATORY
    return skip_extension(buf, pos, end, header)


@kernel
def skip_chain(buf: Buffer, pos: int, end: int) -> int:
    """Skip a chain that is itself the content of an extension."""
    count = 0
    while True:
        if pos >= end:
            return END
        if count == EXTENSIONS_PER_MESSAGE_MAX:
            return TOO_MANY_EXTENSIONS
        header = load(buf, pos)
        pos = skip_extension(buf, pos + 1, end, header)
        if pos < 0 or header < 0x80:
            return pos
        count += 1
