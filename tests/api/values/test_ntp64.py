"""`NTP64` returns the same values as eclipse-zenoh's, also for random times."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from tests.api.against import both


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [
        (0, 0),
        (1, 5),
        (1, 500000000),
        (1, 999999999),
        (1, 3 << 30),
        (-1, 0),
        (1, 1 << 32),
        (2**32 - 1, 0),
        (1 << 64, 0),
        (1.5, 0),
        (1720000000, 123456789),
    ],
)
def test_ntp64_equals_that_of_eclipse_zenoh(seconds: Any, nanos: Any) -> None:
    for ask in (
        lambda z: z.NTP64(seconds, nanos),
        lambda z: z.NTP64(seconds, nanos).as_secs_f64(),
        lambda z: z.NTP64(seconds, nanos).as_secs(),
        lambda z: z.NTP64(seconds, nanos).as_nanos(),
        lambda z: z.NTP64(seconds, nanos).subsec_nanos(),
        lambda z: z.NTP64(seconds, nanos).to_datetime(),
        lambda z: z.NTP64(seconds, nanos).to_string_rfc3339_lossy(),
        lambda z: z.NTP64(seconds, nanos) < z.NTP64(1, 6),
        lambda z: z.NTP64(seconds, nanos) >= z.NTP64(1, 5),
        lambda z: z.NTP64(seconds, nanos) == z.NTP64(1, 5),
        lambda z: z.NTP64(seconds, nanos) == 3,
        lambda z: z.NTP64(seconds, nanos) <= 3,
    ):
        ours, theirs = both(ask)
        assert ours == theirs


def test_random_times_equal_those_of_eclipse_zenoh() -> None:
    rng = random.Random(5)
    for _ in range(500):
        seconds, nanos = rng.randrange(1 << 32), rng.randrange(1_000_000_000)
        for ask in (
            lambda z, s=seconds, n=nanos: z.NTP64(s, n).as_nanos(),
            lambda z, s=seconds, n=nanos: z.NTP64(s, n).to_string_rfc3339_lossy(),
            lambda z, s=seconds, n=nanos: z.NTP64.parse_rfc3339(
                z.NTP64(s, n).to_string_rfc3339_lossy()
            ),
            lambda z, s=seconds, n=nanos: z.Timestamp(z.NTP64(s, n).to_datetime(), b"\1"),
        ):
            ours, theirs = both(ask)
            assert ours == theirs


@pytest.mark.parametrize(
    "text",
    [
        "2024-07-01T13:51:12.129693000Z",
        "2024-07-01T13:51:12Z",
        "bad",
        "2024-07-01T13:51:12.5+02:00",
        "2024-07-01 13:51:12Z",
        "2024-07-01T13:51:12",
        "1960-07-01T13:51:12Z",
        "",
        "2024-07-01T13:51:60Z",
        "2024-07-01t13:51:10z",
        "2024-02-30T13:51:10Z",
        "2024-07-01T13:51:12.1296930001Z",
        "2024-07-01T13:51:12.Z",
        "2024-07-01T24:51:12Z",
    ],
)
def test_rfc3339_is_read_and_written_as_by_eclipse_zenoh(text: str) -> None:
    ours, theirs = both(lambda z: z.NTP64.parse_rfc3339(text))
    assert ours == theirs
    for zid in ("/33", "", "/", "/zz", "/033", "/AB", "/" + "f" * 32):
        ours, theirs = both(partial(parsed, text + zid))
        assert ours == theirs


def parsed(text: str, z: Any) -> Any:
    return z.Timestamp.parse_rfc3339(text)
