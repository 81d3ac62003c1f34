"""A timer's thread wakes when it must, and not for every deadline that comes and goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from tests.waiting import holds, until
from zenlake.node.timer import Timer


class Deadlines:
    """Open deadlines, and how often the earliest was read."""

    def __init__(self) -> None:
        self.earliest = inf
        self.looks = 0
        self.handled: list[float] = []

    def next_deadline(self) -> float:
        self.looks += 1
        return self.earliest

    def handle_timeout(self, now: float) -> None:
        if now >= self.earliest:
            self.handled.append(now)
            self.earliest = inf


@contextmanager
def started(deadlines: Deadlines) -> Iterator[Timer]:
    timer = Timer("test", deadlines.next_deadline, deadlines.handle_timeout)
    timer.start()
    try:
        yield timer
    finally:
        timer.close()
        timer.join(5.0)


def add(timer: Timer, deadlines: Deadlines, deadline: float) -> None:
    """Like a thread that releases the node's lock."""
    deadlines.earliest = min(deadlines.earliest, deadline)
    if deadlines.earliest < timer.armed:
        timer.wake()


def test_queries_that_are_answered_at_once_do_not_wake_it_each() -> None:
    deadlines = Deadlines()
    with started(deadlines) as timer:
        until(lambda: deadlines.looks > 0)
        began = time.monotonic()
        for _ in range(200):
            add(timer, deadlines, time.monotonic() + 10.0)
            deadlines.earliest = inf
            time.sleep(0.0005)  # the time of an answer
        took_s = time.monotonic() - began
    assert deadlines.looks <= 4 + 2 * took_s


def test_a_deadline_during_its_nap_is_kept() -> None:
    deadlines = Deadlines()
    with started(deadlines) as timer:
        until(lambda: deadlines.looks > 0)
        timer.wake()
        until(lambda: deadlines.looks > 1)
        due = time.monotonic() + 0.05
        add(timer, deadlines, due)
        until(lambda: len(deadlines.handled) == 1)
    assert deadlines.handled[0] >= due


def test_without_deadlines_it_sleeps() -> None:
    deadlines = Deadlines()
    with started(deadlines) as timer:
        timer.wake()
        until(lambda: deadlines.looks >= 3)  # the first, when woken, after the nap
        looks = deadlines.looks
        holds(lambda: deadlines.looks == looks, 1.2)
