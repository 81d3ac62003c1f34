"""The hybrid logical clock (§2.11)."""

from __future__ import annotations

import itertools
import os
import random
import threading

from zenlake.routing.hlc import FUTURE_NTP64_MAX, Hlc
from zenlake.wire import Timestamp, ZenohId
from zenlake.wire.values.timestamp import ntp64_of_ns

ZID = ZenohId.parse("a1")
HOUR = 3600 << 32
MILLISECOND = (1 << 32) // 1000
START = ntp64_of_ns(1_700_000_000_000_000_000)


def test_the_wall_clock_without_its_four_lowest_bits() -> None:
    assert Hlc(ZID).new(START | 0xF) == Timestamp(START & ~0xF, ZID)


def test_within_one_tick_it_counts() -> None:
    clock = Hlc(ZID)
    times = [clock.new(START).time for _ in range(40)]
    assert times == [(START & ~0xF) + n for n in range(40)]


def test_a_received_timestamp_is_never_passed_by_an_older_one() -> None:
    clock = Hlc(ZID)
    ahead = START + FUTURE_NTP64_MAX
    assert clock.update(ahead, START)
    assert clock.new(START).time > ahead
    assert clock.new(START + HOUR).time == (START + HOUR) & ~0xF


def test_more_than_half_a_second_in_the_future_is_refused() -> None:
    clock = Hlc(ZID)
    assert not clock.update(START + FUTURE_NTP64_MAX + 1, START)
    assert clock.last == 0
    assert not clock.update((1 << 64) - 1, START)


def test_updates_follow_the_greatest() -> None:
    clock = Hlc(ZID)
    assert clock.update(START - HOUR, START)
    assert clock.last == START & ~0xF
    assert clock.update(START - HOUR, START)
    assert clock.last == (START & ~0xF) + 1
    assert clock.update(START + 100, START)
    assert clock.last == START + 101


def test_clock_jumps_do_not_disturb_the_order() -> None:
    seed = int(os.environ.get("ZENLAKE_SEED", "20261115"))
    print("seed", seed)
    chance = random.Random(seed)
    clock = Hlc(ZID)
    jumps = [0, 1, MILLISECOND, -MILLISECOND, HOUR, -HOUR, 87_600 * HOUR, 1 << 32]
    last = 0
    for _ in range(20_000):
        wall = START + chance.randrange(-HOUR, HOUR) + chance.choice(jumps)
        if chance.random() < 0.3:
            clock.update(wall + chance.randrange(-HOUR, HOUR), wall)
        time = clock.new(wall).time
        assert time > last
        last = time


def test_unique_and_ordered_from_eight_threads() -> None:
    clock = Hlc(ZID)
    lock = threading.Lock()
    given: list[int] = []

    def work() -> None:
        for _ in range(12_500):
            with lock:
                given.append(clock.new(START).time)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 100_000
    assert all(a < b for a, b in itertools.pairwise(given))


def test_nanoseconds_survive_the_way_through_ntp64() -> None:
    chance = random.Random(7)
    for _ in range(10_000):
        ns = chance.randrange(1 << 62)
        assert Timestamp(ntp64_of_ns(ns), ZID).ns == ns
