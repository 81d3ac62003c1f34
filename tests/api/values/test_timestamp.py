"""`Timestamp` and `TimestampId` return the same values as eclipse-zenoh's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import zenlake
from tests.api.against import both
from zenlake import wire

WHEN = datetime(2024, 7, 1, 13, 51, 12, 129693, tzinfo=UTC)
EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("time", "zid"),
    [
        (WHEN, b"3"),
        (WHEN.astimezone(EAST), b"3"),
        (WHEN.replace(tzinfo=None), b"3"),
        (datetime(1960, 1, 1, tzinfo=UTC), b"3"),
        (3, b"3"),
        (WHEN, "33"),
        (WHEN, b""),
        (WHEN, b"\x00"),
        (WHEN, b"\x01" * 17),
        (WHEN, bytearray(b"\x01\x00")),
    ],
)
def test_timestamp_equals_that_of_eclipse_zenoh(time: Any, zid: Any) -> None:
    for ask in (
        lambda z: z.Timestamp(time, zid),
        lambda z: z.Timestamp(time, zid).get_time(),
        lambda z: z.Timestamp(time, zid).get_time_as_ntp64(),
        lambda z: z.Timestamp(time, zid).get_id(),
        lambda z: bytes(z.Timestamp(time, zid).get_id()),
        lambda z: z.Timestamp(time, zid).to_string_rfc3339_lossy(),
        lambda z: z.Timestamp(time, zid) == z.Timestamp(time, zid),
        lambda z: z.Timestamp(time, zid) < z.Timestamp(z.NTP64(1, 5), b"\1"),
        lambda z: z.Timestamp(time, zid).get_diff_duration(z.Timestamp(z.NTP64(2, 5), b"\1")),
        lambda z: z.Timestamp(time, zid) < 3,
        lambda z: z.Timestamp(time=time, id=zid) == 3,
    ):
        ours, theirs = both(ask)
        assert ours == theirs


def test_a_difference_may_be_negative() -> None:
    early = zenlake.Timestamp(zenlake.NTP64(1, 0), b"\1")
    late = zenlake.Timestamp(zenlake.NTP64(3, 500_000), b"\1")
    assert late.get_diff_duration(early) == timedelta(seconds=2, microseconds=500)
    assert early.get_diff_duration(late) == -timedelta(seconds=2, microseconds=500)


def test_clocks_are_ordered_as_bytes() -> None:
    ids = [b"\1", b"\2", b"\1\2", b"\2\1", b"\xff\1", b"\xff" * 16]
    for a in ids:
        for b in ids:
            for ask in (
                lambda z, a=a, b=b: z.TimestampId(a) < z.TimestampId(b),
                lambda z, a=a, b=b: z.TimestampId(a) >= z.TimestampId(b),
                lambda z, a=a, b=b: z.TimestampId(a) == z.TimestampId(b),
                lambda z, a=a, b=b: z.Timestamp(z.NTP64(1, 1), a) <= z.Timestamp(z.NTP64(1, 1), b),
            ):
                ours, theirs = both(ask)
                assert ours == theirs


def test_timestamp_survives_the_wire() -> None:
    on_wire = wire.Timestamp(7386664595088445305, wire.ZenohId(b"\x33"))
    timestamp = zenlake.Timestamp.from_wire(on_wire)
    assert timestamp == zenlake.Timestamp(WHEN, b"\x33")
    assert timestamp.wire == on_wire
    assert len({timestamp, zenlake.Timestamp(WHEN, b"\x33")}) == 1
