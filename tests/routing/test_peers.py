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
    play.enters("app")
    return play


def test_a_new_peer_gets_everything_then_the_final_zero(play: Play) -> None:
    play.enters("c", "client")
    play.says("app", token(1, "t"), subscriber(2, "s/**"))
    play.says("c", queryable(1, "q"))
    play.enters("p", "peer")
    play.hears(
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
    play.enters("p", "peer")
    play.hears("p", "D_FINAL for 0")
    play.says("app", put("a", "1"), request(1, "q"))
    play.hears("p", "PUT 1 a", "REQUEST 1 q")
    play.says("p", subscriber(1, "b"), final(0))
    play.says("app", put("a", "2"), put("b", "3"), request(2, "q"))
    play.hears("p", "PUT 3 b")
    play.hears("app", "RESPONSE_FINAL 2")


def test_declarations_with_interest_id_zero_are_accepted(play: Play) -> None:
    play.enters("p", "peer")
    play.forget()
    play.says("p", subscriber(1, "b", answer_to=0), token(0, "t", answer_to=0), final(0))
    play.says("app", put("b"), interest(1, "current", "KT", "t"))
    play.hears("p", "PUT x b")
    play.hears("app", "D_TOKEN 0 t for 1", "D_FINAL for 1")


def test_a_declared_publisher_makes_no_traffic(play: Play) -> None:
    play.enters("p", "peer")
    play.says("p", subscriber(1, "k"), final(0))
    play.forget()
    play.says("app", interest(1, "current_future", "KS", "k"))
    play.hears("app", "D_SUB 1 k for 1", "D_FINAL for 1")
    play.silence()


def test_a_peer_does_not_get_what_another_peer_declared(play: Play) -> None:
    play.enters("p1", "peer")
    play.enters("p2", "peer")
    play.enters("r", "router")
    play.forget()
    play.says("p1", subscriber(1, "k"), token(2, "t"))
    play.says("r", subscriber(1, "k2"))
    play.silence()
    play.says("p2", put("k"), request(1, "k"))
    play.hears("p1")
    play.hears("p2", "RESPONSE_FINAL 1")


def test_a_peer_gets_what_clients_declared(play: Play) -> None:
    play.enters("p", "peer")
    play.enters("r", "router")
    play.enters("c", "client")
    play.forget()
    play.says("c", subscriber(1, "k"))
    for name in ("p", "r"):
        play.hears(name, "D_KEYEXPR 1 k", "D_SUB 1 [ours 1]")
    play.says("app", subscriber(1, "k"))
    play.leaves("c")
    play.silence()
    play.says("app", no_subscriber(1))
    for name in ("p", "r"):
        play.hears(name, "U_SUB 1")


def test_the_other_sides_number_is_used(play: Play) -> None:
    play.enters("p", "peer")
    play.says("app", subscriber(1, "k/*"))
    play.hears("p", "D_FINAL for 0", "D_KEYEXPR 1 k", "D_SUB 1 [ours 1]/*")
    play.says("p", subscriber(1, WireExpr(1, "/x", sender=False)), final(0))
    play.says("app", put("k/x"))
    play.hears("p", "PUT x [ours 1]/x")


def test_a_peer_may_ask_and_is_answered(play: Play) -> None:
    play.enters("p", "peer")
    play.enters("p2", "peer")
    play.says("app", subscriber(1, "k"))
    play.says("p2", subscriber(1, "k"))
    play.forget()
    play.says("p", interest(4, "current_future", "KS", "**"))
    play.hears("p", "D_SUB 1 [ours 1] for 4", "D_FINAL for 4")
    play.says("app", subscriber(2, "l"))
    play.hears("p", "D_KEYEXPR 2 l", "D_SUB 2 [ours 2]")


def test_below_a_router_a_peer_behaves_like_a_client(play: Play) -> None:
    play.says("app", subscriber(1, "s"), interest(2, "current_future", "KS", "p"))
    play.forget()
    play.enters("r", "router")
    play.hears(
        "r",
        "D_KEYEXPR 1 p",
        "INTEREST 1 current_future KS [ours 1]",
        "D_KEYEXPR 2 s",
        "D_SUB 2 [ours 2]",
    )
    play.says("app", put("p", "1"), put("plain", "2"))
    play.hears("r", "PUT 1 [ours 1]", "PUT 2 plain")
    play.says("r", final(1))
    play.says("app", put("p", "3"), put("plain", "4"))
    play.hears("r", "PUT 4 plain")


def test_a_peers_publication_stays_out_of_the_north(play: Play) -> None:
    play.enters("r", "router")
    play.enters("p", "peer")
    play.enters("c", "client")
    play.says("c", subscriber(1, "k"))
    play.says("app", subscriber(1, "*"))
    play.forget()
    play.says("r", put("k", "from above"))
    play.hears("c", "PUT from above k")
    play.hears("app", "PUT from above k")
    play.says("p", put("k", "from aside"))
    play.hears("c", "PUT from aside k")
    play.hears("app", "PUT from aside k")
    play.silence()
