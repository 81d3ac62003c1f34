"""Peers among peers and below routers (§3.3, §3.4)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    final,
    interest,
    no_subscriber,
    put,
    queryable,
    request,
    subscriber,
    token,
)
from zenlake.wire import WireExpr


@pytest.fixture
def play() -> Play:
    play = Play("peer", gossip=False)
    play.connects("app")
    return play


def test_a_new_peer_gets_everything_then_the_final_zero(play: Play) -> None:
    play.connects("c", "client")
    play.sends("app", token(1, "t"), subscriber(2, "s/**"))
    play.sends("c", queryable(1, "q"))
    play.connects("p", "peer")
    play.receives(
        "p",
        "D_KEYEXPR 1 s",
        "D_SUB 1 [ours 1]/**",
        "D_KEYEXPR 2 q",
        "D_QBL 2 [ours 2]",
        "D_KEYEXPR 3 t",
        "D_TOKEN 3 [ours 3]",
        "D_FINAL for 0",
    )


def test_until_its_final_zero_a_peer_gets_everything(play: Play) -> None:
    play.connects("p", "peer")
    play.receives("p", "D_FINAL for 0")
    play.sends("app", put("a", "1"), request(1, "q"))
    play.receives("p", "PUT 1 a", "REQUEST 1 q")
    play.sends("p", subscriber(1, "b"), final(0))
    play.sends("app", put("a", "2"), put("b", "3"), request(2, "q"))
    play.receives("p", "PUT 3 b")
    play.receives("app", "RESPONSE_FINAL 2")


def test_declarations_with_interest_id_zero_are_accepted(play: Play) -> None:
    play.connects("p", "peer")
    play.clear_received()
    play.sends("p", subscriber(1, "b", answer_to=0), token(0, "t", answer_to=0), final(0))
    play.sends("app", put("b"), interest(1, "current", "KT", "t"))
    play.receives("p", "PUT x b")
    play.receives("app", "D_TOKEN 0 t for 1", "D_FINAL for 1")


def test_a_declared_publisher_makes_no_traffic(play: Play) -> None:
    play.connects("p", "peer")
    play.sends("p", subscriber(1, "k"), final(0))
    play.clear_received()
    play.sends("app", interest(1, "current_future", "KS", "k"))
    play.receives("app", "D_SUB 1 k for 1", "D_FINAL for 1")
    play.nothing_received()


def test_a_peer_does_not_get_what_another_peer_declared(play: Play) -> None:
    play.connects("p1", "peer")
    play.connects("p2", "peer")
    play.connects("r", "router")
    play.clear_received()
    play.sends("p1", subscriber(1, "k"), token(2, "t"))
    play.sends("r", subscriber(1, "k2"))
    play.nothing_received()
    play.sends("p2", put("k"), request(1, "k"))
    play.receives("p1")
    play.receives("p2", "RESPONSE_FINAL 1")


def test_a_peer_gets_what_clients_declared(play: Play) -> None:
    play.connects("p", "peer")
    play.connects("r", "router")
    play.connects("c", "client")
    play.clear_received()
    play.sends("c", subscriber(1, "k"))
    for name in ("p", "r"):
        play.receives(name, "D_KEYEXPR 1 k", "D_SUB 1 [ours 1]")
    play.sends("app", subscriber(1, "k"))
    play.disconnects("c")
    play.nothing_received()
    play.sends("app", no_subscriber(1))
    for name in ("p", "r"):
        play.receives(name, "U_SUB 1")


def test_an_alias_of_the_other_side_is_used(play: Play) -> None:
    play.connects("p", "peer")
    play.sends("app", subscriber(1, "k/*"))
    play.receives("p", "D_FINAL for 0", "D_KEYEXPR 1 k", "D_SUB 1 [ours 1]/*")
    play.sends("p", subscriber(1, WireExpr(1, "/x", sender=False)), final(0))
    play.sends("app", put("k/x"))
    play.receives("p", "PUT x [ours 1]/x")


def test_interests_of_a_peer_are_answered(play: Play) -> None:
    play.connects("p", "peer")
    play.connects("p2", "peer")
    play.sends("app", subscriber(1, "k"))
    play.sends("p2", subscriber(1, "k"))
    play.clear_received()
    play.sends("p", interest(4, "current_future", "KS", "**"))
    play.receives("p", "D_SUB 1 [ours 1] for 4", "D_FINAL for 4")
    play.sends("app", subscriber(2, "l"))
    play.receives("p", "D_KEYEXPR 2 l", "D_SUB 2 [ours 2]")


def test_below_a_router_a_peer_behaves_like_a_client(play: Play) -> None:
    play.sends("app", subscriber(1, "s"), interest(2, "current_future", "KS", "p"))
    play.clear_received()
    play.connects("r", "router")
    play.receives(
        "r",
        "D_KEYEXPR 1 p",
        "INTEREST 1 current_future KS [ours 1]",
        "D_KEYEXPR 2 s",
        "D_SUB 2 [ours 2]",
    )
    play.sends("app", put("p", "1"), put("plain", "2"))
    play.receives("r", "PUT 1 [ours 1]", "PUT 2 plain")
    play.sends("r", final(1))
    play.sends("app", put("p", "3"), put("plain", "4"))
    play.receives("r", "PUT 4 plain")


def test_a_peers_publication_is_not_sent_to_gateways(play: Play) -> None:
    play.connects("r", "router")
    play.connects("p", "peer")
    play.connects("c", "client")
    play.sends("c", subscriber(1, "k"))
    play.sends("app", subscriber(1, "*"))
    play.clear_received()
    play.sends("r", put("k", "from above"))
    play.receives("c", "PUT from above k")
    play.receives("app", "PUT from above k")
    play.sends("p", put("k", "from a peer"))
    play.receives("c", "PUT from a peer k")
    play.receives("app", "PUT from a peer k")
    play.nothing_received()
