"""Integers, byte strings and text (the wire reference §1.1 to §1.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.vectors import ZINTS
from tests.vectors.vector import ZintVector
from tests.wire.written import written
from zenlake.errors import LocalError
from zenlake.wire import primitives as p
from zenlake.wire.primitives import Malformed
from zenlake.wire.writer import BytesWriter

MAXIMA = {"z8": 0xFF, "z16": 0xFFFF, "z32": 0xFFFF_FFFF, "z64": 0xFFFF_FFFF_FFFF_FFFF}
READERS: dict[str, Callable[[bytes, int, int], tuple[int, int]]] = {
    "z8": p.read_z8,
    "z16": p.read_z16,
    "z32": p.read_z32,
    "z64": p.read_z64,
}
WRITERS: dict[str, Callable[[BytesWriter, int], None]] = {
    "z8": p.write_z8,
    "z16": p.write_z16,
    "z32": p.write_z32,
    "z64": p.write_z64,
}


def vle(value: int, size: int) -> bytes:
    """A number in exactly `size` bytes, straight from the definition: nine are the most."""
    groups = [value >> 7 * index & 0x7F | 0x80 for index in range(size - 1)]
    return bytes([*groups, value >> 7 * (size - 1)])


def minimal_size(value: int) -> int:
    return min(9, max(1, -(-value.bit_length() // 7)))


def boundary_values() -> Iterator[int]:
    """Every power of two, its neighbours, and patterns around where the length changes."""
    for bits in range(65):
        for delta in (-2, -1, 0, 1, 2):
            yield (1 << bits) + delta
    for bits in range(56, 64):
        for low in (0, 1, 0x7F, 0x80, 0xFF, (1 << 56) - 1):
            yield 1 << bits | low
    for pattern in (0x55, 0xAA, 0x7F, 0x80, 0x01):
        for size in range(1, 9):
            yield int.from_bytes(bytes([pattern] * size), "little")


VALUES = sorted({value for value in boundary_values() if 0 <= value <= MAXIMA["z64"]})


@pytest.mark.parametrize("vector", ZINTS, ids=lambda vector: str(vector.value))
def test_vectors_of_the_reference(vector: ZintVector) -> None:
    data = bytes.fromhex(vector.hex)
    assert p.read_z64(data, 0, len(data)) == (vector.value, len(data))
    assert written(p.write_z64, vector.value) == data


def test_boundary_values_have_one_shortest_form() -> None:
    checks = 0
    for value in VALUES:
        size = minimal_size(value)
        for width, maximum in MAXIMA.items():
            if value <= maximum:
                data = vle(value, size)
                assert written(WRITERS[width], value) == data
                assert READERS[width](data, 0, size) == (value, size)
                checks += 1
    assert checks > 500


def test_overlong_forms_up_to_nine_bytes_are_accepted() -> None:
    checks = 0
    for value in VALUES:
        for size in range(minimal_size(value), 10):
            data = vle(value, size)
            for width, maximum in MAXIMA.items():
                if value <= maximum:
                    assert READERS[width](data, 0, len(data)) == (value, size)
                    checks += 1
    assert checks > 1_000


def test_the_reference_s_overlong_hundred() -> None:
    assert p.read_z16(bytes.fromhex("e4 80 00"), 0, 3) == (100, 3)


def test_ninth_byte_is_whole_and_the_last() -> None:
    for top in range(256):
        data = b"\x80" * 8 + bytes([top]) + b"\xff"
        assert p.read_z64(data, 0, len(data)) == (top << 56, 9)


@pytest.mark.parametrize("width", ["z8", "z16", "z32"])
def test_number_above_its_width_is_refused(width: str) -> None:
    maximum = MAXIMA[width]
    refused = [value for value in VALUES if value > maximum]
    assert maximum + 1 in refused
    for value in refused:
        for size in range(minimal_size(value), 10):
            data = vle(value, size)
            with pytest.raises(Malformed, match=f"^{value} is more than {maximum}"):
                READERS[width](data, 0, size)


@pytest.mark.parametrize("width", MAXIMA)
def test_bytes_that_end_inside_a_number(width: str) -> None:
    for size in range(9):
        with pytest.raises(IndexError):
            READERS[width](b"\x80" * size, 0, size)
        with pytest.raises(IndexError):  # nothing at or after `end` is read
            READERS[width](b"\x80" * size + b"\x00", 0, size)


@pytest.mark.parametrize("width", MAXIMA)
def test_number_that_does_not_fit_is_a_local_error(width: str) -> None:
    for value in (-1, MAXIMA[width] + 1, 1 << 70):
        with pytest.raises(LocalError, match=f"does not fit {width}"):
            written(WRITERS[width], value)


def test_fixed_width_integers_are_little_endian() -> None:
    assert p.read_u16(b"\x34\x12", 0, 2) == (0x1234, 2)
    assert p.read_u8(b"\xff", 0, 1) == (0xFF, 1)
    with pytest.raises(IndexError):
        p.read_u16(b"\x34\x12", 0, 1)
    with pytest.raises(IndexError):
        p.read_u8(b"\xff", 0, 0)
    assert written(p.write_u16, 0x1234) == b"\x34\x12"
    assert written(p.write_u8, 0xFF) == b"\xff"
    for bad in (-1, 0x10000):
        with pytest.raises(LocalError, match="does not fit u16"):
            written(p.write_u16, bad)
    with pytest.raises(LocalError, match="does not fit u8"):
        written(p.write_u8, 256)


def test_byte_string_must_end_before_the_end_of_the_buffer() -> None:
    assert p.read_bytes_z8(b"\x02ab", 0, 3) == (b"ab", 3)
    assert p.read_bytes_z16(b"\x00", 0, 1) == (b"", 1)
    with pytest.raises(Malformed, match="it claims 2 bytes, 1 are left"):
        p.read_bytes_z32(b"\x02ab", 0, 2)
    with pytest.raises(Malformed, match="256 is more than 255"):
        p.read_bytes_z8(b"\x80\x02" + b"x" * 256, 0, 258)


def test_byte_strings_too_long_for_their_length_are_not_written() -> None:
    out = BytesWriter()
    with pytest.raises(LocalError, match="256 bytes are more than 255"):
        p.write_bytes_z8(out, b"x" * 256)
    with pytest.raises(LocalError, match="65536 bytes are more than 65535"):
        p.write_text_z16(out, "x" * 65536)
    assert out.getvalue() == b""
    p.write_bytes_z8(out, b"x" * 255)
    assert len(out.getvalue()) == 257


@pytest.mark.parametrize("text", ["", "a", "é", "日本", "🤖", "a\0b", "\u202eabc", "\ufeff"])
def test_text_round_trips_byte_for_byte(text: str) -> None:
    data = written(p.write_text_z16, text)
    assert data[1:] == text.encode()
    assert p.read_text_z16(data, 0, len(data)) == (text, len(data))


@pytest.mark.parametrize(
    "raw", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"]
)
def test_text_that_is_not_utf8_is_refused(raw: bytes) -> None:
    data = bytes([len(raw)]) + raw
    with pytest.raises(UnicodeDecodeError):
        p.read_text_z8(data, 0, len(data))
    assert p.wire_error("PUSH", "key", 1, UnicodeDecodeError("utf-8", raw, 0, 1, "")).cause == (
        "the text is not UTF-8"
    )


def test_text_with_a_lone_surrogate_is_not_written() -> None:
    with pytest.raises(LocalError, match="UTF-8"):
        p.write_text_z16(BytesWriter(), "\ud800")
