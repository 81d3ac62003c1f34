"""A single router with clients, peers and applications (§3.2, §3.4, §4.1)."""

from __future__ import annotations

import pytest

from tests.routing.gossip.test_gossip import gossip, state_of
from tests.routing.playbook import (
    Play,
    connected,
    final,
    interest,
    no_subscriber,
    no_token,
    put,
    queryable,
    reply,
    request,
    response_final,
    subscriber,
    token,
)
from zenlake.wire import Query, QueryTarget, Request, WireExpr


@pytest.fixture
def play() -> Play:
    play = connected("router", {"app": "", "c": "client", "p1": "peer", "p2": "peer"}, gossip=False)
    return play


def test_the_regions_have_the_names_that_users_see(play: Play) -> None:
    play.connects("r", "router")
    assert {name: face.region.name for name, face in play.faces.items()} == {
        "app": "local",
        "c": "south:0:client",
        "p1": "south:0:peer",
        "p2": "south:0:peer",
        "r": "north",
    }


def test_a_peer_without_interests_gets_no_declarations(play: Play) -> None:
    play.sends("c", subscriber(1, "s"), queryable(2, "q"), token(3, "t"))
    play.connects("p3", "peer")
    play.nothing_received()


def test_interests_of_a_peer_are_answered_as_those_of_a_client(play: Play) -> None:
    play.sends("c", subscriber(1, "s/**"))
    play.sends("p1", interest(1, "current_future", "KS", "s/1"))
    play.receives("p1", "D_SUB 1 s/** for 1", "D_FINAL for 1")
    play.sends("app", subscriber(1, "s/*"))
    play.receives("p1", "D_SUB 2 s/*")
    play.sends("c", no_subscriber(1))
    play.receives("p1", "U_SUB 1")


def test_a_peer_gets_no_aggregate(play: Play) -> None:
    play.sends("c", subscriber(1, "s/1"))
    play.sends("p1", interest(1, "current_future", "KSA", "s/*"))
    play.receives("p1", "D_KEYEXPR 1 s/1", "D_SUB 1 [ours 1] for 1", "D_FINAL for 1")


def test_peers_get_no_declarations_of_each_other(play: Play) -> None:
    play.sends("p1", subscriber(1, "k"), queryable(2, "k"), token(3, "k"))
    play.sends("p2", interest(1, "current_future", "KSQT", "k"))
    play.receives("p2", "D_FINAL for 1")
    play.sends("p2", put("k"), request(1, "k"))
    play.receives("p1")
    play.receives("p2", "RESPONSE_FINAL 1")
    play.sends("p1", no_token(3))
    play.nothing_received()


def test_clients_and_peers_get_declarations_of_each_other(play: Play) -> None:
    play.sends("p1", subscriber(1, "k"))
    play.sends("c", interest(1, "current_future", "KS", "k"))
    play.receives("c", "D_KEYEXPR 1 k", "D_SUB 1 [ours 1] for 1", "D_FINAL for 1")
    play.sends("c", put(WireExpr(1, "", False)))
    play.receives("p1", "PUT x k")
    play.sends("c", subscriber(1, "j"))
    play.sends("p1", put("j"))
    play.receives("c", "PUT x j")
    play.receives("p2")


def test_a_peer_without_matching_subscribers_gets_nothing(play: Play) -> None:
    play.sends("c", put("k"), request(1, "k"))
    play.receives("c", "RESPONSE_FINAL 1")
    play.nothing_received()


def test_a_future_interest_is_answered_with_the_final(play: Play) -> None:
    play.sends("c", token(1, "t"))
    play.sends("p1", interest(1, "future", "KT", "t"))
    play.receives("p1", "D_FINAL for 1")
    play.sends("c", no_token(1))
    play.receives("p1", "D_KEYEXPR 1 t", "U_TOKEN 0 [ours 1]")


def test_a_current_interest_in_subscribers_is_ignored(play: Play) -> None:
    play.sends("c", interest(1, "current", "KS", "k"), interest(2, "current", "KT", "k"))
    play.receives("c", "D_FINAL for 2")
    assert play.dispatcher.counters.ignored_interests == 1


def test_a_router_ignores_interests_of_a_router(play: Play) -> None:
    play.connects("r", "router")
    play.clear_received()
    play.sends("r", interest(1, "current_future", "KS", "k"))
    play.nothing_received()
    assert play.dispatcher.counters.ignored_interests == 1


def test_the_best_match_is_chosen_in_each_region(play: Play) -> None:
    play.sends("app", queryable(1, "q/**", complete=True))
    play.sends("p1", queryable(1, "q/**", complete=True))
    play.sends("p2", queryable(1, "q/**", complete=True))
    play.connects("c2", "client")
    play.sends("c2", queryable(1, "q/1"))
    play.sends("c", request(1, "q/*"))
    asked = {name for name in ("app", "p1", "p2", "c2") if play.received(name)}
    assert len(asked) == 3
    assert {"app", "c2"} < asked
    play.sends("c", request(2, "q/*", QueryTarget.ALL_COMPLETE))
    assert {name for name in ("app", "p1", "p2", "c2") if play.received(name)} == {
        "app",
        "p1",
        "p2",
    }
    play.sends("c", request(3, "q/*", QueryTarget.ALL))
    assert all(play.received(name) for name in ("app", "p1", "p2", "c2"))


def test_the_reply_budget_of_a_request_ends_the_query(play: Play) -> None:
    play.sends("p1", queryable(1, "q"))
    play.sends("p2", queryable(1, "q"))
    play.sends("c", Request(7, WireExpr(0, "q"), Query(), target=QueryTarget.ALL, budget=2))
    play.receives("p1", "REQUEST 1 q")
    play.receives("p2", "REQUEST 1 q")
    play.sends("p1", reply(1, "q", "1"))
    play.sends("p2", reply(1, "q", "2"), reply(1, "q", "3"), response_final(1))
    play.sends("p1", response_final(1))
    play.receives("c", "RESPONSE 7 PUT 1 q", "RESPONSE 7 PUT 2 q", "RESPONSE_FINAL 7")
    assert play.dispatcher.counters.late_responses == 3
    assert play.dispatcher.next_deadline() is None


def test_a_silent_peer_ends_at_the_timeout_of_the_hop(play: Play) -> None:
    play.sends("p1", queryable(1, "q"))
    play.sends("c", request(1, "q", timeout_ms=1000))
    play.time_passes(1.2)
    play.receives("c", "RESPONSE 1 ERR Timeout ", "RESPONSE_FINAL 1")


def test_a_group_is_in_the_region_of_peers() -> None:
    play = connected("router", {"c": "client", "p": "peer"}, gossip=False)
    play.connects("g", "peer", group=True)
    play.sends("c", subscriber(1, "s"), put("k"))
    play.receives("g", "D_SUB 0 s", "PUT x k")
    play.sends("p", subscriber(1, "s2"), put("k"))
    play.receives("g")
    play.joins_group("m", "g")
    play.sends("m", put("s"))
    play.receives("c", "PUT x s")
    play.receives("p")


def test_the_final_zero_of_a_peer_below_is_ignored(play: Play) -> None:
    play.sends("p1", final(0))
    play.nothing_received()


def test_gossip_forwards_peers_own_link_states() -> None:
    play = Play("router")
    play.dispatcher.own_locators = ["tcp/us:1"]
    play.connects("a", "peer")
    play.receives("a", "OAM ")
    play.connects("b", "peer")
    play.receives("b", "OAM ")
    play.sends("a", gossip(state_of(0, "a", 2, where=("tcp/a:1",)), state_of(1, "r", 0, "router")))
    play.receives("b", "OAM 1=a sn 2 peer at tcp/a:1")
    play.receives("a")
    play.connects("c", "peer")
    play.receives("c", "OAM 1=a sn 2 peer at tcp/a:1")
    play.disconnects("a")
    play.nothing_received()
    play.connects("r", "router")
    play.connects("d", "client")
    play.receives("d")
