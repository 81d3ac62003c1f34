"""Links are checked at their deadlines, and not otherwise."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, cast

from zenlake.node.link_deadlines import LinkDeadlines

if TYPE_CHECKING:
    from zenlake.node.link_runner import LinkRunner


class Runner:
    """The part of a LinkRunner that LinkDeadlines uses."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.is_over = False
        self.looks = 0

    def next_deadline(self) -> float:
        self.looks += 1
        return self.deadline


def due(times: LinkDeadlines, now: float) -> list[Runner]:
    return cast("list[Runner]", times.pop_due(now))


def times_of(*runners: Runner) -> LinkDeadlines:
    times = LinkDeadlines()
    for one in runners:
        times.add(cast("LinkRunner", one), 0.0)
    return times


def test_the_earliest_deadline_counts() -> None:
    times = times_of(Runner(3.0), Runner(1.0), Runner(2.0))
    assert times.next_deadline() == 1.0
    assert LinkDeadlines().next_deadline() == inf


def test_due_links_are_returned_and_added_again() -> None:
    first, second = Runner(1.0), Runner(2.0)
    times = times_of(first, second)
    assert due(times, 0.5) == []
    assert due(times, 1.5) == [first]
    assert times.next_deadline() == 2.0
    first.deadline = 4.0
    times.add(cast("LinkRunner", first), 1.5)
    assert due(times, 4.0) == [second, first]


def test_a_deadline_that_moved_is_found_when_the_old_one_comes() -> None:
    runner = Runner(1.0)
    times = times_of(runner)
    runner.deadline = 3.0
    assert times.pop_due(1.0) == []
    assert times.next_deadline() == 3.0


def test_a_link_without_deadline_is_checked_periodically() -> None:
    runner = Runner(inf)
    times = times_of(runner)
    runner.deadline = 20.0  # a fragment came
    taken: list[Runner] = []
    while not taken:
        now = times.next_deadline()
        assert now <= 20.0
        taken = due(times, now)
    assert taken == [runner]
    assert now == 20.0
    assert runner.looks < 10


def test_links_that_are_over_are_removed() -> None:
    runner = Runner(1.0)
    times = times_of(runner)
    runner.is_over = True
    assert times.pop_due(2.0) == []
    assert times.next_deadline() == inf


def test_idle_links_cost_nothing() -> None:
    """10,000 links: those that are not due are not checked."""
    runners = [Runner(4.0) for _ in range(10_000)]
    times = times_of(*runners, Runner(1.0))
    before = sum(one.looks for one in runners)
    assert len(times.pop_due(1.0)) == 1
    assert sum(one.looks for one in runners) == before


def test_links_that_are_over_do_not_wait_for_their_deadline() -> None:
    """Each ended link keeps many objects alive, and thousands may end before the first deadline."""
    lasting = Runner(2.0)
    times = times_of(lasting)
    for number in range(1_000):
        runner = Runner(3.0 + number)
        times.add(cast("LinkRunner", runner), 0.0)
        runner.is_over = True
        assert len(times) <= 16
    assert due(times, 2_000.0) == [lasting]
