"""Wrong finals, request ids and aliases on a router, with repliers in three regions (Q04, Q09)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    alias,
    end,
    no_alias,
    put,
    queryable,
    reply,
    request,
    subscriber,
)
from zenlake.wire import QueryTarget, Request, WireExpr

REPLIERS = ("app", "c2", "p1")


@pytest.fixture
def play() -> Play:
    """Request 9 of c1 went to an application, a client and a peer; none has answered."""
    play = Play("router", gossip=False)
    play.enters("app")
    for name in ("c1", "c2", "c3"):
        play.enters(name, "client")
    play.enters("p1", "peer")
    for name in REPLIERS:
        play.says(name, queryable(1, "q"))
    play.says("c1", request(9, "q", QueryTarget.ALL))
    for name in REPLIERS:
        assert [type(one) for one in play.takes(name)] == [Request]
        assert list(play.faces[name].branches) == [1]
    play.hears("c1")
    return play


def test_one_final_follows_the_last_of_three(play: Play) -> None:
    play.says("c2", reply(1, "q"), end(1))
    play.says("p1", end(1))
    assert len(play.takes("c1")) == 1  # the reply
    play.says("app", end(1))
    play.hears("c1", "RESPONSE_FINAL 9")


def test_response_after_final_and_two_finals(play: Play) -> None:
    play.says("c2", end(1), reply(1, "q"), end(1))
    play.hears("c1")
    assert play.dispatcher.counters.late_responses == 2
    play.says("p1", end(1))
    play.says("app", end(1))
    play.hears("c1", "RESPONSE_FINAL 9")
    play.says("app", end(1))
    play.hears("c1")


def test_no_final_ends_at_the_timeout_of_this_hop(play: Play) -> None:
    play.says("c2", end(1))
    play.says("app", end(1))
    play.passes(60.0)
    assert play.takes("c1")[-1] == end(9)
    assert play.dispatcher.counters.timed_out_requests == 1
    play.says("p1", reply(1, "q"), end(1))
    play.hears("c1")


def test_a_final_of_who_was_not_asked_ends_nothing(play: Play) -> None:
    play.says("c3", reply(1, "q"), end(1))
    play.says("c2", reply(7, "q"), end(7))
    play.hears("c1")
    assert play.dispatcher.counters.late_responses == 4


def test_a_request_id_in_use_is_not_asked_again(play: Play) -> None:
    play.says("c1", request(9, "q", QueryTarget.ALL))
    play.silence()
    assert play.dispatcher.counters.reused_request_ids == 1
    for name in REPLIERS:
        play.says(name, end(1))
    play.hears("c1", "RESPONSE_FINAL 9")


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_repliers_that_die_end_their_part(play: Play, gone: int) -> None:
    names = ("c2", "p1", "app")
    for name in names[:gone]:
        play.leaves(name)
    for name in names[gone:]:
        play.says(name, end(1))
    play.hears("c1", "RESPONSE_FINAL 9")


def test_aliases_that_are_unknown_taken_back_or_redefined() -> None:
    play = Play("router", gossip=False)
    for name in ("c1", "c2", "p1"):
        play.enters(name, "client" if name[0] == "c" else "peer")
    play.says("c2", subscriber(1, "**"))
    for name in ("c1", "p1"):
        play.says(name, put(WireExpr(5, "/x")))  # never declared
        play.says(name, alias(1, "a/b"), alias(1, "c/d"))
        play.says(name, put(WireExpr(1, "/x")))
        play.hears("c2", "PUT x a/b/x")
        play.says(name, no_alias(1), put(WireExpr(1, "/x")))
        play.hears("c2")
    counters = play.dispatcher.counters
    assert (counters.unknown_aliases, counters.redefined_aliases) == (4, 2)
