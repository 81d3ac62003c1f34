"""Wrong finals, request ids and aliases on a router, with repliers in three regions (Q04, Q09)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    alias,
    no_alias,
    put,
    queryable,
    reply,
    request,
    response_final,
    subscriber,
)
from zenlake.wire import QueryTarget, Request, WireExpr

REPLIERS = ("app", "c2", "p1")


@pytest.fixture
def play() -> Play:
    """Request 9 of c1 went to an application, a client and a peer; none has answered."""
    play = Play("router", gossip=False)
    play.connects("app")
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    play.connects("p1", "peer")
    for name in REPLIERS:
        play.sends(name, queryable(1, "q"))
    play.sends("c1", request(9, "q", QueryTarget.ALL))
    for name in REPLIERS:
        assert [type(one) for one in play.received(name)] == [Request]
        assert list(play.faces[name].branches) == [1]
    play.receives("c1")
    return play


def test_one_final_follows_the_last_of_three(play: Play) -> None:
    play.sends("c2", reply(1, "q"), response_final(1))
    play.sends("p1", response_final(1))
    assert len(play.received("c1")) == 1  # the reply
    play.sends("app", response_final(1))
    play.receives("c1", "RESPONSE_FINAL 9")


def test_response_after_final_and_two_finals(play: Play) -> None:
    play.sends("c2", response_final(1), reply(1, "q"), response_final(1))
    play.receives("c1")
    assert play.dispatcher.counters.late_responses == 2
    play.sends("p1", response_final(1))
    play.sends("app", response_final(1))
    play.receives("c1", "RESPONSE_FINAL 9")
    play.sends("app", response_final(1))
    play.receives("c1")


def test_no_final_ends_at_the_timeout_of_this_hop(play: Play) -> None:
    play.sends("c2", response_final(1))
    play.sends("app", response_final(1))
    play.time_passes(60.0)
    assert play.received("c1")[-1] == response_final(9)
    assert play.dispatcher.counters.timed_out_requests == 1
    play.sends("p1", reply(1, "q"), response_final(1))
    play.receives("c1")


def test_a_final_of_a_face_without_the_query_is_ignored(play: Play) -> None:
    play.sends("c3", reply(1, "q"), response_final(1))
    play.sends("c2", reply(7, "q"), response_final(7))
    play.receives("c1")
    assert play.dispatcher.counters.late_responses == 4


def test_a_request_with_an_id_in_use_is_not_forwarded(play: Play) -> None:
    play.sends("c1", request(9, "q", QueryTarget.ALL))
    play.nothing_received()
    assert play.dispatcher.counters.reused_request_ids == 1
    for name in REPLIERS:
        play.sends(name, response_final(1))
    play.receives("c1", "RESPONSE_FINAL 9")


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_repliers_that_disconnect_count_as_finished(play: Play, gone: int) -> None:
    names = ("c2", "p1", "app")
    for name in names[:gone]:
        play.disconnects(name)
    for name in names[gone:]:
        play.sends(name, response_final(1))
    play.receives("c1", "RESPONSE_FINAL 9")


def test_unknown_undeclared_and_redefined_aliases_are_counted() -> None:
    play = Play("router", gossip=False)
    for name in ("c1", "c2", "p1"):
        play.connects(name, "client" if name[0] == "c" else "peer")
    play.sends("c2", subscriber(1, "**"))
    for name in ("c1", "p1"):
        play.sends(name, put(WireExpr(5, "/x")))  # never declared
        play.sends(name, alias(1, "a/b"), alias(1, "c/d"))
        play.sends(name, put(WireExpr(1, "/x")))
        play.receives("c2", "PUT x a/b/x")
        play.sends(name, no_alias(1), put(WireExpr(1, "/x")))
        play.receives("c2")
    counters = play.dispatcher.counters
    assert (counters.unknown_aliases, counters.redefined_aliases) == (4, 2)
