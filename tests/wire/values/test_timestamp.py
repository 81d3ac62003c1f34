"""Timestamp: nanoseconds, text, order (the wire reference §1.6)."""

from __future__ import annotations

import random

import pytest

from tests.vectors import TIMESTAMPS
from tests.wire.written import written
from zenlake.errors import LocalError
from zenlake.wire import Del, Push, Timestamp, WireExpr, ZenohId, encode
from zenlake.wire.values.timestamp import ntp64_of_ns, read_timestamp, write_timestamp

BB = ZenohId.parse("bb")


@pytest.mark.parametrize("vector", TIMESTAMPS, ids=lambda vector: str(vector.timestamp))
def test_vectors(vector: object) -> None:
    data = bytes.fromhex(vector.hex)  # type: ignore[attr-defined]  # a TimestampVector
    timestamp: Timestamp = vector.timestamp  # type: ignore[attr-defined]  # a TimestampVector
    assert read_timestamp(data, 0, len(data)) == (timestamp, len(data))
    assert written(write_timestamp, timestamp) == data


@pytest.mark.parametrize(("fraction", "ns"), [(0, 0), (1, 1), (5, 2), (429496730, 100000001)])
def test_fraction_to_nanoseconds_rounds_up(fraction: int, ns: int) -> None:
    assert Timestamp(fraction, BB).ns == ns
    assert Timestamp(7 << 32 | fraction, BB).ns == 7_000_000_000 + ns


def test_nanoseconds_to_fraction_rounds_down() -> None:
    assert ntp64_of_ns(0) == 0
    assert ntp64_of_ns(1) == 4  # 4.29 units of 2**-32 s
    assert ntp64_of_ns(999_999_999) == 0xFFFFFFFB
    assert ntp64_of_ns(1_000_000_000) == 1 << 32


def test_every_nanosecond_round_trips() -> None:
    source = random.Random(6)
    samples = [*range(1000), *range(999_999_000, 1_000_000_000)]
    samples += [source.randrange(4_000_000_000 * 1_000_000_000) for _ in range(20_000)]
    for ns in samples:
        assert Timestamp(ntp64_of_ns(ns), BB).ns == ns


def test_text_of_a_timestamp_is_parsed_back() -> None:
    timestamp = Timestamp(7708198693311890500, BB)
    assert str(timestamp) == "7708198693311890500/bb"
    assert Timestamp.parse("7708198693311890500/bb") == timestamp
    assert str(timestamp) in repr(timestamp)


def test_rfc3339_text_has_nine_digits() -> None:
    assert Timestamp(0, BB).to_rfc3339() == "1970-01-01T00:00:00.000000000Z/bb"
    assert Timestamp(1 << 32 | 1 << 31, BB).to_rfc3339() == "1970-01-01T00:00:01.500000000Z/bb"
    human = Timestamp(7708198693311890500, BB).to_rfc3339()
    assert human == "2026-11-15T01:07:43.175724284Z/bb"
    assert Timestamp(0xFFFF_FFFF, BB).to_rfc3339() == "1970-01-01T00:00:01.000000000Z/bb"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "/bb",
        "1/",
        "1/0",
        "-1/bb",
        "1.5/bb",
        "0x1/bb",
        "\u0661/bb",
        "1/bb/cc",
        " 1/bb",
        "1_0/bb",
    ],
)
def test_invalid_text_is_refused(text: str) -> None:
    with pytest.raises(LocalError):
        Timestamp.parse(text)


def test_order_is_by_time_then_id() -> None:
    stamps = [Timestamp.parse(text) for text in ("10/1", "2/1", "1/100", "1/2", "1/1")]
    assert [str(stamp) for stamp in sorted(stamps)] == ["1/100", "1/1", "1/2", "2/1", "10/1"]
    assert len(set(stamps) | {Timestamp.parse("1/1")}) == len(stamps)


@pytest.mark.parametrize("time", [-1, 1 << 64])
def test_time_that_does_not_fit_is_never_sent(time: int) -> None:
    with pytest.raises(LocalError):
        encode(Push(WireExpr(1), Del(timestamp=Timestamp(time, BB))))
