"""Many clients with the same key: what one more costs does not grow with their number."""

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
        play.enters(name, "client")
        play.says(name, interest(1, "current_future", kind, "a/b"))
        play.says(name, DECLARE[kind](1, "a/b"))
    play.forget()
    return play


def steps_of_one_more(play: Play, kind: str) -> int:
    play.enters("new", "client")
    work = play.dispatcher.tables.work
    play.says("new", DECLARE[kind](1, "a/b"))
    before = work.steps = 1 << 40
    play.slice_steps = before
    play.says("new", UNDECLARE[kind](1), DECLARE[kind](1, "a/b"))
    return before - work.steps


@pytest.mark.parametrize("kind", DECLARE)
def test_one_more_holder_costs_the_same_among_many(kind: str) -> None:
    few = steps_of_one_more(crowd(5, kind), kind)
    many = steps_of_one_more(crowd(60, kind), kind)
    assert many < few + 50


@pytest.mark.parametrize("kind", DECLARE)
def test_the_third_holder_is_not_announced_and_the_end_of_the_first_two_is(kind: str) -> None:
    play = crowd(3, kind)
    play.enters("other", "client")
    play.says("other", interest(1, "current_future", kind, "a/b"))
    play.forget()
    play.says("c0", UNDECLARE[kind](1))
    play.silence()
    play.says("c1", UNDECLARE[kind](1))
    heard = {name: len(play.takes(name)) for name in ("c0", "c1", "c2", "other")}
    # c2 is alone now. It would take the end of the others' token for that of its own.
    is_token = kind == "T"
    assert heard == {"c0": 0, "c1": 0, "c2": 0 if is_token else 1, "other": 0}
    play.says("c2", UNDECLARE[kind](1))
    heard = {name: len(play.takes(name)) for name in ("c0", "c1", "c2", "other")}
    assert heard == {"c0": 1, "c1": 1, "c2": 1 if is_token else 0, "other": 1}


def test_a_better_queryable_is_announced_however_many_there_are() -> None:
    play = crowd(5, "Q")
    play.enters("best", "client")
    play.says("best", queryable(1, "a/b", True, 1))
    heard = {name: len(play.takes(name)) for name in ("c0", "c4", "best")}
    assert heard == {"c0": 1, "c4": 1, "best": 0}
    play.leaves("best")
    heard = {name: len(play.takes(name)) for name in ("c0", "c4")}
    assert heard == {"c0": 1, "c4": 1}


def test_holders_in_a_region_that_does_not_relay_do_not_know_of_each_other() -> None:
    """Peers are linked directly: this router tells none of them of another's subscriber."""
    play = Play("router", gossip=False)
    for name in ("p1", "p2", "p3"):
        play.enters(name, "peer")
        play.says(name, interest(1, "current_future", "S", "a/b"), subscriber(1, "a/b"))
    play.enters("c1", "client")
    play.says("c1", interest(1, "current_future", "S", "a/b"))
    play.forget()
    play.says("c1", subscriber(1, "a/b"))
    heard = {name: len(play.takes(name)) for name in ("p1", "p2", "p3", "c1")}
    assert heard == {"p1": 1, "p2": 1, "p3": 1, "c1": 0}
