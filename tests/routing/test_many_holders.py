"""Many clients with the same key: the cost of one more does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.routing.playbook import (
    Play,
    interest,
    no_queryable,
    no_subscriber,
    no_token,
    queryable,
    subscriber,
    token,
)
from zenlake.wire import Declare

DECLARE: dict[str, Callable[..., Declare]] = {"S": subscriber, "Q": queryable, "T": token}
UNDECLARE: dict[str, Callable[..., Declare]] = {
    "S": no_subscriber,
    "Q": no_queryable,
    "T": no_token,
}


def crowd(count: int, kind: str) -> Play:
    """Clients that hold the same key, and to which other holders are announced."""
    play = Play("router", gossip=False)
    for number in range(count):
        name = f"c{number}"
        play.connects(name, "client")
        play.sends(name, interest(1, "current_future", kind, "a/b"))
        play.sends(name, DECLARE[kind](1, "a/b"))
    play.clear_received()
    return play


def steps_of_one_more(play: Play, kind: str) -> int:
    play.connects("new", "client")
    work = play.dispatcher.tables.work
    play.sends("new", DECLARE[kind](1, "a/b"))
    before = work.steps = 1 << 40
    play.slice_steps = before
    play.sends("new", UNDECLARE[kind](1), DECLARE[kind](1, "a/b"))
    return before - work.steps


@pytest.mark.parametrize("kind", DECLARE)
def test_one_more_holder_costs_the_same_among_many(kind: str) -> None:
    few = steps_of_one_more(crowd(5, kind), kind)
    many = steps_of_one_more(crowd(60, kind), kind)
    assert many < few + 50


@pytest.mark.parametrize("kind", DECLARE)
def test_the_third_holder_is_not_announced_and_the_end_of_the_first_two_is(kind: str) -> None:
    play = crowd(3, kind)
    play.connects("other", "client")
    play.sends("other", interest(1, "current_future", kind, "a/b"))
    play.clear_received()
    play.sends("c0", UNDECLARE[kind](1))
    play.nothing_received()
    play.sends("c1", UNDECLARE[kind](1))
    counts = {name: len(play.received(name)) for name in ("c0", "c1", "c2", "other")}
    # c2 is the only holder now. It would take the end of the others' token for that of its own.
    is_token = kind == "T"
    assert counts == {"c0": 0, "c1": 0, "c2": 0 if is_token else 1, "other": 0}
    play.sends("c2", UNDECLARE[kind](1))
    counts = {name: len(play.received(name)) for name in ("c0", "c1", "c2", "other")}
    assert counts == {"c0": 1, "c1": 1, "c2": 1 if is_token else 0, "other": 1}


def test_a_better_queryable_is_announced_however_many_there_are() -> None:
    play = crowd(5, "Q")
    play.connects("best", "client")
    play.sends("best", queryable(1, "a/b", True, 1))
    counts = {name: len(play.received(name)) for name in ("c0", "c4", "best")}
    assert counts == {"c0": 1, "c4": 1, "best": 0}
    play.disconnects("best")
    counts = {name: len(play.received(name)) for name in ("c0", "c4")}
    assert counts == {"c0": 1, "c4": 1}


def test_holders_in_a_region_that_does_not_relay_do_not_know_of_each_other() -> None:
    """Peers are linked directly: this router does not announce their subscribers to each other."""
    play = Play("router", gossip=False)
    for name in ("p1", "p2", "p3"):
        play.connects(name, "peer")
        play.sends(name, interest(1, "current_future", "S", "a/b"), subscriber(1, "a/b"))
    play.connects("c1", "client")
    play.sends("c1", interest(1, "current_future", "S", "a/b"))
    play.clear_received()
    play.sends("c1", subscriber(1, "a/b"))
    counts = {name: len(play.received(name)) for name in ("p1", "p2", "p3", "c1")}
    assert counts == {"p1": 1, "p2": 1, "p3": 1, "c1": 0}
