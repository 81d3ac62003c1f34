"""A single router with clients, peers and applications (§3.2, §3.4, §4.1)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    end,
    final,
    interest,
    no_subscriber,
    no_token,
    put,
    queryable,
    reply,
    request,
    subscriber,
    token,
)
from tests.routing.test_gossip import gossip, says_of
from zenlake.wire import Query, QueryTarget, Request, WireExpr


@pytest.fixture
def play() -> Play:
    play = Play("router", gossip=False)
    play.enters("app")
    play.enters("c", "client")
    play.enters("p1", "peer")
    play.enters("p2", "peer")
    return play


def test_the_regions_have_the_names_that_users_see(play: Play) -> None:
    play.enters("r", "router")
    assert {name: face.region.name for name, face in play.faces.items()} == {
        "app": "local",
        "c": "south:0:client",
        "p1": "south:0:peer",
        "p2": "south:0:peer",
        "r": "north",
    }


def test_a_peer_without_interests_gets_no_declarations(play: Play) -> None:
    play.says("c", subscriber(1, "s"), queryable(2, "q"), token(3, "t"))
    play.enters("p3", "peer")
    play.silence()


def test_a_peer_asks_as_clients_do(play: Play) -> None:
    play.says("c", subscriber(1, "s/**"))
    play.says("p1", interest(1, "current_future", "KS", "s/1"))
    play.hears("p1", "D_SUB 1 s/** for 1", "D_FINAL for 1")
    play.says("app", subscriber(1, "s/*"))
    play.hears("p1", "D_SUB 2 s/*")
    play.says("c", no_subscriber(1))
    play.hears("p1", "U_SUB 1")


def test_a_peer_gets_no_aggregate(play: Play) -> None:
    play.says("c", subscriber(1, "s/1"))
    play.says("p1", interest(1, "current_future", "KSA", "s/*"))
    play.hears("p1", "D_KEYEXPR 1 s/1", "D_SUB 1 [ours 1] for 1", "D_FINAL for 1")


def test_peers_get_no_declarations_of_each_other(play: Play) -> None:
    play.says("p1", subscriber(1, "k"), queryable(2, "k"), token(3, "k"))
    play.says("p2", interest(1, "current_future", "KSQT", "k"))
    play.hears("p2", "D_FINAL for 1")
    play.says("p2", put("k"), request(1, "k"))
    play.hears("p1")
    play.hears("p2", "RESPONSE_FINAL 1")
    play.says("p1", no_token(3))
    play.silence()


def test_clients_and_peers_get_declarations_of_each_other(play: Play) -> None:
    play.says("p1", subscriber(1, "k"))
    play.says("c", interest(1, "current_future", "KS", "k"))
    play.hears("c", "D_KEYEXPR 1 k", "D_SUB 1 [ours 1] for 1", "D_FINAL for 1")
    play.says("c", put(WireExpr(1, "", False)))
    play.hears("p1", "PUT x k")
    play.says("c", subscriber(1, "j"))
    play.says("p1", put("j"))
    play.hears("c", "PUT x j")
    play.hears("p2")


def test_a_peer_without_matching_subscribers_gets_nothing(play: Play) -> None:
    play.says("c", put("k"), request(1, "k"))
    play.hears("c", "RESPONSE_FINAL 1")
    play.silence()


def test_a_future_interest_is_answered_with_the_final(play: Play) -> None:
    play.says("c", token(1, "t"))
    play.says("p1", interest(1, "future", "KT", "t"))
    play.hears("p1", "D_FINAL for 1")
    play.says("c", no_token(1))
    play.hears("p1", "D_KEYEXPR 1 t", "U_TOKEN 0 [ours 1]")


def test_a_current_interest_in_subscribers_is_ignored(play: Play) -> None:
    play.says("c", interest(1, "current", "KS", "k"), interest(2, "current", "KT", "k"))
    play.hears("c", "D_FINAL for 2")
    assert play.dispatcher.counters.ignored_interests == 1


def test_a_router_ignores_interests_of_a_router(play: Play) -> None:
    play.enters("r", "router")
    play.forget()
    play.says("r", interest(1, "current_future", "KS", "k"))
    play.silence()
    assert play.dispatcher.counters.ignored_interests == 1


def test_the_best_match_is_chosen_in_each_region(play: Play) -> None:
    play.says("app", queryable(1, "q/**", complete=True))
    play.says("p1", queryable(1, "q/**", complete=True))
    play.says("p2", queryable(1, "q/**", complete=True))
    play.enters("c2", "client")
    play.says("c2", queryable(1, "q/1"))
    play.says("c", request(1, "q/*"))
    asked = {name for name in ("app", "p1", "p2", "c2") if play.takes(name)}
    assert len(asked) == 3
    assert {"app", "c2"} < asked
    play.says("c", request(2, "q/*", QueryTarget.ALL_COMPLETE))
    assert {name for name in ("app", "p1", "p2", "c2") if play.takes(name)} == {"app", "p1", "p2"}
    play.says("c", request(3, "q/*", QueryTarget.ALL))
    assert all(play.takes(name) for name in ("app", "p1", "p2", "c2"))


def test_a_budget_ends_the_query(play: Play) -> None:
    play.says("p1", queryable(1, "q"))
    play.says("p2", queryable(1, "q"))
    play.says("c", Request(7, WireExpr(0, "q"), Query(), target=QueryTarget.ALL, budget=2))
    play.hears("p1", "REQUEST 1 q")
    play.hears("p2", "REQUEST 1 q")
    play.says("p1", reply(1, "q", "1"))
    play.says("p2", reply(1, "q", "2"), reply(1, "q", "3"), end(1))
    play.says("p1", end(1))
    play.hears("c", "RESPONSE 7 PUT 1 q", "RESPONSE 7 PUT 2 q", "RESPONSE_FINAL 7")
    assert play.dispatcher.counters.late_responses == 3
    assert play.dispatcher.next_deadline() is None


def test_a_silent_peer_ends_at_the_timeout_of_the_hop(play: Play) -> None:
    play.says("p1", queryable(1, "q"))
    play.says("c", request(1, "q", timeout_ms=1000))
    play.passes(1.2)
    play.hears("c", "RESPONSE 1 ERR Timeout ", "RESPONSE_FINAL 1")


def test_a_group_is_in_the_region_of_peers() -> None:
    play = Play("router", gossip=False)
    play.enters("c", "client")
    play.enters("p", "peer")
    play.enters("g", "peer", group=True)
    play.says("c", subscriber(1, "s"), put("k"))
    play.hears("g", "D_SUB 0 s", "PUT x k")
    play.says("p", subscriber(1, "s2"), put("k"))
    play.hears("g")
    play.joins("m", "g")
    play.says("m", put("s"))
    play.hears("c", "PUT x s")
    play.hears("p")


def test_the_final_zero_of_a_peer_below_is_of_no_account(play: Play) -> None:
    play.says("p1", final(0))
    play.silence()


def test_gossip_forwards_what_peers_describe_of_themselves() -> None:
    play = Play("router")
    play.dispatcher.own_locators = ["tcp/us:1"]
    play.enters("a", "peer")
    play.hears("a", "OAM ")
    play.enters("b", "peer")
    play.hears("b", "OAM ")
    play.says("a", gossip(says_of(0, "a", 2, where=("tcp/a:1",)), says_of(1, "r", 0, "router")))
    play.hears("b", "OAM 1=a sn 2 peer at tcp/a:1")
    play.hears("a")
    play.enters("c", "peer")
    play.hears("c", "OAM 1=a sn 2 peer at tcp/a:1")
    play.leaves("a")
    play.silence()
    play.enters("r", "router")
    play.enters("d", "client")
    play.hears("d")
