"""How fast datagrams leave."""

from __future__ import annotations

import time

from zenlake.limits import UDP_BURST_BYTES_MAX, UDP_BYTES_PER_SECOND_MAX
from zenlake.links.pace import Pace

SIZE = 60_000


def sent(pace: Pace, seconds: float, step_s: float) -> int:
    """Bytes sent if a sender tries at this interval."""
    now, total = 100.0, 0
    while now < 100.0 + seconds:
        if pace.spend(SIZE, now):
            total += SIZE
        else:
            now += step_s
    return total


def test_a_burst_leaves_at_once() -> None:
    total = sent(Pace(), 1e-9, 1.0)
    assert UDP_BURST_BYTES_MAX <= total < UDP_BURST_BYTES_MAX + SIZE


def test_after_a_burst_the_rate_is_limited() -> None:
    total = sent(Pace(), 1.0, 1e-4)
    allowed = UDP_BYTES_PER_SECOND_MAX + UDP_BURST_BYTES_MAX
    assert 0.99 * allowed < total < allowed + SIZE


def test_small_datagrams_are_not_delayed() -> None:
    pace = Pace()
    assert all(pace.spend(1_000, 100.0 + n * 1e-4) for n in range(10_000))


def test_silence_saves_no_more_than_a_burst() -> None:
    pace = Pace()
    sent(pace, 0.1, 1e-3)
    assert pace.spend(SIZE, 1e6)
    now = 1e6
    more = 0
    while pace.spend(SIZE, now):
        more += SIZE
    assert more < UDP_BURST_BYTES_MAX + SIZE


def test_wait_takes_as_long_as_the_rate_requires() -> None:
    pace = Pace(1_000_000, 1_000)
    assert pace.spend(21_000, time.monotonic())
    began = time.monotonic()
    assert not pace.wait(0.001)
    assert pace.wait(1.0)
    took_s = time.monotonic() - began
    assert took_s > 0.015
    assert pace.spend(1, time.monotonic())
