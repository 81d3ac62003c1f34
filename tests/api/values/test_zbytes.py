"""`ZBytes` returns the same values as eclipse-zenoh's."""

from __future__ import annotations

from typing import Any

import pytest
import zenoh

import zenlake
from tests.api.against import both
from zenlake.api.values.zbytes import payload_bytes

BYTES: list[Any] = [None, b"", b"ab", bytearray(b"x"), "hé", b"\xff", 3, [1], memoryview(b"x")]


@pytest.mark.parametrize("value", BYTES, ids=lambda value: type(value).__name__)
def test_zbytes(value: Any) -> None:
    asks = [
        lambda z: z.ZBytes(value).to_bytes(),
        lambda z: bytes(z.ZBytes(value)),
        lambda z: len(z.ZBytes(value)),
        lambda z: bool(z.ZBytes(value)),
        lambda z: z.ZBytes(value) == z.ZBytes(value),
        lambda z: z.ZBytes(value) == b"ab",
        lambda z: z.ZBytes(value) == "hé",
        lambda z: z.ZBytes(value) == bytearray(b"x"),
        lambda z: z.ZBytes(value) != 3,
        lambda z: z.ZBytes(value) == None,  # noqa: E711  # the question
        lambda z: hash(z.ZBytes(value)),
        lambda z: z.ZBytes(value).as_shm(),
        lambda z: z.ZBytes(z.ZBytes(value)),
    ]
    for ask in asks:
        ours, theirs = both(ask)
        assert ours == theirs
    ours, theirs = both(lambda z: z.ZBytes(value).to_string())
    # A UnicodeDecodeError, with the place, is a ValueError too.
    assert ours == theirs or (ours[1], theirs[1]) == ("UnicodeDecodeError", "ValueError")


def test_zbytes_without_arguments_are_empty_and_print_as_text() -> None:
    assert zenlake.ZBytes().to_bytes() == b""
    assert str(zenlake.ZBytes("hé")) == str(zenoh.ZBytes("hé")) == "hé"
    with pytest.raises(ValueError, match="decode"):
        str(zenlake.ZBytes(b"\xff"))


def test_payload_is_bytes_or_text() -> None:
    for value in (b"x", bytearray(b"x"), "x", zenlake.ZBytes("x")):
        assert payload_bytes(value) == b"x"
    with pytest.raises(TypeError, match="expected bytes/str type, found 'int'"):
        payload_bytes(3)
