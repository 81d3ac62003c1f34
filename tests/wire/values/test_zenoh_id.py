"""ZenohId: text, bytes, order (the wire reference §1.4)."""

from __future__ import annotations

import pytest

from tests.wire.both_codecs import Failure, message_of, outcome_of_both
from zenlake.errors import LocalError
from zenlake.wire import Hello, ZenohId
from zenlake.wire.primitives import Malformed
from zenlake.wire.values.zenoh_id import read_prefixed_zid, read_zid

PAIRS = [
    ("50 40 30 20 10", "1020304050"),
    ("00 0f", "f00"),
    ("0a", "a"),
    ("aa", "aa"),
    ("01 02", "201"),
    ("ff " * 16, "f" * 32),
    ("00 " * 15 + "01", "1" + "0" * 30),
]


@pytest.mark.parametrize(("raw", "text"), PAIRS)
def test_text_is_the_number_in_hexadecimal(raw: str, text: str) -> None:
    zid = ZenohId(bytes.fromhex(raw))
    assert str(zid) == text
    assert ZenohId.parse(text) == zid
    assert ZenohId.from_int(int(text, 16)) == zid
    assert int(zid) == int(text, 16)
    assert text in repr(zid)
    assert hash(ZenohId.parse(text)) == hash(zid)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0a",
        "A",
        "aA",
        "g",
        "a b",
        " a",
        "a\n",
        "0x1",
        "-1",
        "+1",
        "1_0",
        "f" * 33,
        "\u0661",
    ],
)
def test_invalid_text_is_refused(text: str) -> None:
    with pytest.raises(LocalError):
        ZenohId.parse(text)


@pytest.mark.parametrize("raw", [b"", b"\x00", b"\x01\x00", b"\x01" * 17])
def test_invalid_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises(LocalError):
        ZenohId(raw)


@pytest.mark.parametrize("number", [-1, 0, 1 << 128])
def test_invalid_number_is_refused(number: int) -> None:
    with pytest.raises(LocalError):
        ZenohId.from_int(number)


def test_order_is_that_of_the_bytes() -> None:
    """The same order as in eclipse-zenoh, whose routers use it for weights of links."""
    numbers = [1 << 127, 0x010000, 0xFF00, 0x0200, 0x100, 1, 0xFE01, 0x01FE, 0xFF]
    ids = [ZenohId.from_int(number) for number in numbers]
    wire = sorted(number.to_bytes(16, "little") for number in numbers)
    assert [int(zid).to_bytes(16, "little") for zid in sorted(ids)] == wire
    assert max(ids) == ids[-1]
    assert ids[0] <= ids[0]
    assert ZenohId.parse("a") != "a"


def test_zero_bytes_at_the_high_end_are_dropped() -> None:
    hello = message_of(outcome_of_both(bytes.fromhex("02 09 10 05 00"), "scouting"))
    assert isinstance(hello, Hello)
    assert hello.zid == ZenohId.parse("5")
    assert bytes(hello) == bytes.fromhex("02 09 00 05")
    assert read_prefixed_zid(b"\x03\x05\x00\x00", 0, 4) == (ZenohId.parse("5"), 4)


@pytest.mark.parametrize("size", range(1, 17))
def test_zero_is_refused_at_every_length(size: int) -> None:
    outcome = outcome_of_both(bytes([0x02, 9, size - 1 << 4]) + b"\x00" * size, "scouting")
    assert outcome == Failure("HELLO", "zid", 3, "the id is zero")


@pytest.mark.parametrize("size", [0, 17, 255])
def test_prefixed_length_outside_1_to_16(size: int) -> None:
    with pytest.raises(Malformed, match=f"an id of {size} bytes"):
        read_prefixed_zid(bytes([size]) + b"\x01" * 255, 0, 256)


def test_reading_stops_at_the_end() -> None:
    with pytest.raises(IndexError):
        read_zid(b"\x01\x02\x03", 0, 2, 3)
    with pytest.raises(IndexError):
        read_prefixed_zid(b"\x01", 1, 1)
