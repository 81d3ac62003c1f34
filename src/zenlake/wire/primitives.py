"""Integers, byte strings and text: their encoding (wire reference §1.1 to §1.3).

A reader has the arguments `(buf, pos, end)` and returns `(value, next position)`. It reads nothing
at or after `end`, and checks a length before it allocates memory for it. On bad input it raises
`Malformed` or `IndexError` (no bytes left); the decoder of the message turns both into a
`WireError` with message, field and offset. A writer has the arguments `(out, value)` and raises
`LocalError` for a value that does not fit.

Generated decoders read the first byte of a variable-length integer themselves and call these
functions only for the rest, which is rare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.errors import LocalError, WireError
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

Z8_MAX: Final = 0xFF
Z16_MAX: Final = 0xFFFF
Z32_MAX: Final = 0xFFFF_FFFF
Z64_MAX: Final = 0xFFFF_FFFF_FFFF_FFFF
_I64_MAX: Final = 0x7FFF_FFFF_FFFF_FFFF


class Malformed(Exception):
    """Why a field cannot be read; the decoder of the message adds the place."""


# What reading one field may raise; UnicodeDecodeError comes from bytes.decode().
FIELD_ERRORS: Final = (IndexError, Malformed, UnicodeDecodeError)


def wire_error(message: str, field: str, offset: int, error: Exception) -> WireError:
    """The error that callers see for a field that could not be read."""
    if isinstance(error, IndexError):
        cause = "the bytes end inside this field"
    elif isinstance(error, UnicodeDecodeError):
        cause = "the text is not UTF-8"
    else:
        cause = str(error)
    return WireError(message, field, offset, cause)


def too_large(value: int, limit: int) -> Malformed:
    return Malformed(f"{value} is more than {limit}, the most this field can hold")


def overrun(size: int, left: int) -> Malformed:
    return Malformed(f"it claims {size} bytes, {left} are left")


def wrong_body(id: int, names: str) -> Malformed:
    return Malformed(f"{id:#04x} is not {names}")


# --- variable-length integers: base 128, at most nine bytes, the ninth whole -----------------


def read_tail(buf: bytes, pos: i64, end: i64, first: i64, limit: i64) -> tuple[i64, i64]:
    """The rest of a z8, z16 or z32 whose first byte had its continuation bit set."""
    value: i64 = first & 0x7F
    shift: i64 = 7
    while True:
        if pos >= end:
            raise IndexError
        byte: i64 = buf[pos]
        pos += 1
        if shift == 56:
            if byte:
                raise too_large(int(value) | int(byte) << 56, limit)
            break
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    if value > limit:
        raise too_large(value, limit)
    return value, pos


def read_tail_z64(buf: bytes, pos: i64, end: i64, first: i64) -> tuple[int, i64]:
    """The rest of a z64 whose first byte had its continuation bit set."""
    value: i64 = first & 0x7F
    shift: i64 = 7
    while True:
        if pos >= end:
            raise IndexError
        byte: i64 = buf[pos]
        pos += 1
        if shift == 56:
            # Unlike in LEB128, the ninth byte holds 8 bits: a machine integer may be too short.
            if byte < 0x80:
                return value | byte << 56, pos
            return int(value) | int(byte) << 56, pos
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7


def read_small(buf: bytes, pos: i64, end: i64, limit: i64) -> tuple[i64, i64]:
    """A z8, z16 or z32, depending on `limit`."""
    if pos >= end:
        raise IndexError
    value: i64 = buf[pos]
    if value < 0x80:
        if value > limit:
            raise too_large(value, limit)
        return value, pos + 1
    return read_tail(buf, pos + 1, end, value, limit)


def read_z8(buf: bytes, pos: i64, end: i64) -> tuple[int, i64]:
    return read_small(buf, pos, end, Z8_MAX)


def read_z16(buf: bytes, pos: i64, end: i64) -> tuple[int, i64]:
    return read_small(buf, pos, end, Z16_MAX)


def read_z32(buf: bytes, pos: i64, end: i64) -> tuple[int, i64]:
    return read_small(buf, pos, end, Z32_MAX)


def read_z64(buf: bytes, pos: i64, end: i64) -> tuple[int, i64]:
    if pos >= end:
        raise IndexError
    value: i64 = buf[pos]
    if value < 0x80:
        return value, pos + 1
    return read_tail_z64(buf, pos + 1, end, value)


def write_vle(out: BytesWriter, value: int) -> None:
    """The shortest form of a value; the caller has checked that 0 <= value < 2**64.

    Shifts are done on a machine integer if the value fits; a byte to append is an int again,
    because the compiler appends an int without a call.
    """
    rest: i64
    byte: int
    if value <= _I64_MAX:
        rest = value
        while rest >= 0x80:  # at most eight times: 63 bits are nine groups of seven
            byte = rest & 0x7F | 0x80
            out.append(byte)
            rest >>= 7
        byte = rest
        out.append(byte)
    else:
        rest = value & 0xFF_FFFF_FFFF_FFFF
        for _ in range(8):
            byte = rest & 0x7F | 0x80
            out.append(byte)
            rest >>= 7
        out.append(value >> 56)


def does_not_fit(value: int, name: str, limit: int) -> LocalError:
    return LocalError(f"{value} does not fit {name} (0 to {limit})")


def write_z8(out: BytesWriter, value: int) -> None:
    if not 0 <= value <= Z8_MAX:
        raise does_not_fit(value, "z8", Z8_MAX)
    write_vle(out, value)


def write_z16(out: BytesWriter, value: int) -> None:
    if not 0 <= value <= Z16_MAX:
        raise does_not_fit(value, "z16", Z16_MAX)
    write_vle(out, value)


def write_z32(out: BytesWriter, value: int) -> None:
    if not 0 <= value <= Z32_MAX:
        raise does_not_fit(value, "z32", Z32_MAX)
    write_vle(out, value)


def write_z64(out: BytesWriter, value: int) -> None:
    if not 0 <= value <= Z64_MAX:
        raise does_not_fit(value, "z64", Z64_MAX)
    write_vle(out, value)


# --- fixed-width integers ----------------------------------------------------------------------


def read_u8(buf: bytes, pos: i64, end: i64) -> tuple[int, i64]:
    if pos >= end:
        raise IndexError
    return buf[pos], pos + 1


def read_u16(buf: bytes, pos: i64, end: i64) -> tuple[int, i64]:
    """Little-endian, as all fixed-width integers of the protocol."""
    if pos + 2 > end:
        raise IndexError
    return buf[pos] | buf[pos + 1] << 8, pos + 2


def write_u8(out: BytesWriter, value: int) -> None:
    if not 0 <= value <= 0xFF:
        raise does_not_fit(value, "u8", 0xFF)
    out.append(value)


def write_u16(out: BytesWriter, value: int) -> None:
    if not 0 <= value <= 0xFFFF:
        raise does_not_fit(value, "u16", 0xFFFF)
    out.append(value & 0xFF)
    out.append(value >> 8)


# --- byte strings and text: a length, then that many bytes -------------------------------------


def read_length(buf: bytes, pos: i64, end: i64, limit: i64) -> tuple[i64, i64]:
    """The length of a byte string that lies whole before `end`."""
    size, pos = read_small(buf, pos, end, limit)
    if size > end - pos:
        raise overrun(size, end - pos)
    return size, pos


def read_bytes(buf: bytes, pos: i64, end: i64, limit: i64) -> tuple[bytes, i64]:
    size, pos = read_length(buf, pos, end, limit)
    return buf[pos : pos + size], pos + size


def read_text(buf: bytes, pos: i64, end: i64, limit: i64) -> tuple[str, i64]:
    raw, pos = read_bytes(buf, pos, end, limit)
    return raw.decode(), pos


def read_bytes_z8(buf: bytes, pos: i64, end: i64) -> tuple[bytes, i64]:
    return read_bytes(buf, pos, end, Z8_MAX)


def read_bytes_z16(buf: bytes, pos: i64, end: i64) -> tuple[bytes, i64]:
    return read_bytes(buf, pos, end, Z16_MAX)


def read_bytes_z32(buf: bytes, pos: i64, end: i64) -> tuple[bytes, i64]:
    return read_bytes(buf, pos, end, Z32_MAX)


def read_text_z8(buf: bytes, pos: i64, end: i64) -> tuple[str, i64]:
    return read_text(buf, pos, end, Z8_MAX)


def read_text_z16(buf: bytes, pos: i64, end: i64) -> tuple[str, i64]:
    return read_text(buf, pos, end, Z16_MAX)


def read_text_z32(buf: bytes, pos: i64, end: i64) -> tuple[str, i64]:
    return read_text(buf, pos, end, Z32_MAX)


def read_rest(buf: bytes, pos: i64, end: i64) -> tuple[bytes, i64]:
    """Everything up to `end`."""
    return buf[pos:end], end


def read_rest_text(buf: bytes, pos: i64, end: i64) -> tuple[str, i64]:
    return buf[pos:end].decode(), end


def to_utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise LocalError(f"the text cannot be written as UTF-8: {error.reason}") from None


def write_bytes(out: BytesWriter, value: bytes, limit: int) -> None:
    size = len(value)
    if size > limit:
        raise LocalError(f"{size} bytes are more than {limit}, the most the length can express")
    write_vle(out, size)
    out.write(value)


def write_bytes_z8(out: BytesWriter, value: bytes) -> None:
    write_bytes(out, value, Z8_MAX)


def write_bytes_z16(out: BytesWriter, value: bytes) -> None:
    write_bytes(out, value, Z16_MAX)


def write_bytes_z32(out: BytesWriter, value: bytes) -> None:
    write_bytes(out, value, Z32_MAX)


def write_text_z16(out: BytesWriter, value: str) -> None:
    write_bytes(out, to_utf8(value), Z16_MAX)


def write_text_z32(out: BytesWriter, value: str) -> None:
    write_bytes(out, to_utf8(value), Z32_MAX)


def write_rest(out: BytesWriter, value: bytes) -> None:
    out.write(value)


def write_rest_text(out: BytesWriter, value: str) -> None:
    out.write(to_utf8(value))


# --- counts --------------------------------------------------------------------------------------


def read_count(buf: bytes, pos: i64, end: i64, limit: int) -> tuple[i64, i64]:
    """How many items follow; each has at least one byte, which limits a valid count."""
    count, pos = read_small(buf, pos, end, Z32_MAX)
    if count > limit:
        raise Malformed(f"{count} items, at most {limit} are accepted")
    if count > end - pos:
        raise Malformed(f"it claims {count} items, {end - pos} bytes are left")
    return count, pos


def write_count(out: BytesWriter, count: int, limit: int, name: str) -> None:
    if count > limit:
        raise LocalError(f"{count} {name}, at most {limit} may be sent")
    write_vle(out, count)
