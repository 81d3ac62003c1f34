"""Liveliness at the dispatcher (§2.8, §3.2, §3.6)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    alias,
    connected,
    end_interest,
    final,
    interest,
    no_token,
    subscriber,
    token,
)
from zenlake.wire import WireExpr


def broker() -> Play:
    play = Play("peer")
    play.connects("app")
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    return play


def test_an_interest_with_history_gets_current_tokens_with_real_ids() -> None:
    play = broker()
    play.sends("c1", token(1, "fleet/a"), token(2, "fleet/b"))
    play.sends("c2", alias(1, "fleet"), interest(1, "current_future", "KT", WireExpr(1, "/**")))
    play.receives(
        "c2",
        "D_KEYEXPR 2 fleet/b",
        "D_TOKEN 1 [ours 2] for 1",
        "D_KEYEXPR 3 fleet/a",
        "D_TOKEN 2 [ours 3] for 1",
        "D_FINAL for 1",
    )
    play.sends("c2", interest(2, "current_future", "KT", "fleet/a"))
    play.receives("c2", "D_TOKEN 2 [ours 3] for 2", "D_FINAL for 2")
    play.sends("c1", no_token(1))
    play.receives("c2", "U_TOKEN 2")


def test_a_get_gets_current_tokens_with_id_zero() -> None:
    play = broker()
    play.sends("c1", token(1, "fleet/a"))
    play.sends("c2", interest(1, "current", "KT", "fleet/**"))
    play.receives("c2", "D_TOKEN 0 fleet/a for 1", "D_FINAL for 1")
    play.sends("c1", no_token(1))
    play.nothing_received()


def test_without_history_only_the_future_is_announced() -> None:
    """As recorded from deployed nodes: also the end of a token that it never got."""
    play = broker()
    play.sends("c1", token(1, "fleet/a"), token(2, "fleet/b"))
    play.sends("c2", interest(1, "future", "KT", "fleet/**"))
    play.receives("c2", "D_FINAL for 1")
    play.sends("c3", token(1, "fleet/c"))
    play.receives("c2", "D_KEYEXPR 1 fleet/c", "D_TOKEN 1 [ours 1]")
    # A second holder of an earlier token: announced now, ended with the last holder.
    play.sends("c3", token(2, "fleet/a"))
    play.receives("c2", "D_KEYEXPR 2 fleet/a", "D_TOKEN 2 [ours 2]")
    play.sends("c1", no_token(1))
    play.nothing_received()
    play.sends("c3", no_token(2))
    play.receives("c2", "U_TOKEN 2")
    play.sends("c1", no_token(2))
    play.receives("c2", "D_KEYEXPR 3 fleet/b", "U_TOKEN 0 [ours 3]")


def test_the_end_of_one_of_two_unknown_holders_is_not_announced() -> None:
    play = broker()
    play.sends("c1", token(1, "t"))
    play.sends("c3", token(1, "t"))
    play.sends("c2", interest(1, "future", "KT", "t"))
    play.clear_received()
    play.sends("c1", no_token(1))
    play.nothing_received()
    play.sends("c3", no_token(1))
    play.receives("c2", "D_KEYEXPR 1 t", "U_TOKEN 0 [ours 1]")


@pytest.mark.parametrize("slices", range(8))
def test_the_end_of_two_unknown_holders_is_announced_once(slices: int) -> None:
    """The second holder ends while the end of the first is announced, in slices of one step.

    Its removal has more to do before it comes to the token.
    """
    play = broker()
    play.sends("c1", token(1, "t"))
    play.sends("c3", subscriber(1, "s"), subscriber(2, "s"), token(3, "t"))
    play.sends("app", interest(1, "future", "KT", "t"))
    play.sends("c2", interest(1, "future", "KT", "t"))
    play.clear_received()
    play.dispatcher.remove_face(play.faces["c1"], play.now, 1)
    for _ in range(slices):
        play.dispatcher.run_jobs(1)
    play.slice_steps = 1
    play.disconnects("c3")
    play.receives("app", "U_TOKEN 0 t")
    play.receives("c2", "D_KEYEXPR 1 t", "U_TOKEN 0 [ours 1]")


@pytest.mark.parametrize("slices", range(8))
def test_the_end_of_two_known_holders_is_announced_once(slices: int) -> None:
    """The same with a token that was announced: the job for the first holder sees both ends."""
    play = broker()
    play.connects("p1", "peer")
    play.sends("app", interest(1, "future", "KT", "t"))
    play.sends("c1", token(1, "t"))
    play.sends("c3", token(1, "t"))
    play.clear_received()
    play.slice_steps = 1
    for name in ("c1", "c3"):
        play.dispatcher.receive_run(play.faces[name], [no_token(1)], 0, 1, True, play.now, 1)
        for _ in range(slices):
            play.dispatcher.run_jobs(1)
    play.work()
    play.receives("app", "U_TOKEN 1")


def test_tokens_of_an_application_are_announced_to_it() -> None:
    play = broker()
    play.sends("app", token(1, "me"), interest(2, "current_future", "KT", "*"))
    play.receives("app", "D_TOKEN 1 me for 2", "D_FINAL for 2")
    play.sends("app", no_token(1))
    play.receives("app", "U_TOKEN 1")
    play.sends("app", token(3, "me"))
    play.receives("app", "D_TOKEN 2 me")


def test_tokens_of_a_client_are_not_announced_to_it() -> None:
    play = broker()
    play.sends("c1", token(1, "me"), interest(2, "current_future", "KT", "*"))
    play.receives("c1", "D_FINAL for 2")


def test_tokens_of_a_killed_client_end() -> None:
    play = broker()
    play.sends("app", interest(1, "current_future", "KT", "**"))
    play.sends("c1", token(1, "a"), token(2, "b"), token(3, "a"))
    play.receives("app", "D_FINAL for 1", "D_TOKEN 1 a", "D_TOKEN 2 b")
    play.disconnects("c1")
    play.receives("app", "U_TOKEN 1", "U_TOKEN 2")


def test_tokens_of_a_lost_gateway_end() -> None:
    play = connected("client", {"app": "", "gw": "router"})
    play.sends("app", interest(1, "current_future", "KT", "**"))
    play.sends("gw", token(9, "a", answer_to=1), final(1))
    play.receives("app", "D_TOKEN 1 a for 1", "D_FINAL for 1")
    play.disconnects("gw")
    play.receives("app", "U_TOKEN 1")
    play.connects("gw", "router")
    play.sends("gw", token(1, "a", answer_to=1), final(1))
    play.receives("app", "D_TOKEN 2 a")


def test_a_token_with_id_zero_is_treated_like_any_other() -> None:
    """SN-100: routers of 1.0.4 and 1.5.1 begin with it."""
    play = connected("client", {"app": "", "gw": "router"})
    play.sends("app", interest(1, "current_future", "KT", "**"))
    play.sends("gw", token(0, "a", answer_to=1), final(1))
    play.receives("app", "D_TOKEN 1 a for 1", "D_FINAL for 1")
    play.sends("gw", no_token(0))
    play.receives("app", "U_TOKEN 1")


def test_a_get_through_a_client_leaves_nothing_behind() -> None:
    play = connected("client", {"app": "", "gw": "router"})
    play.sends("app", token(1, "fleet/me"))
    play.clear_received()
    play.sends("app", interest(2, "current", "KT", "fleet/*"))
    play.receives("app", "D_TOKEN 0 fleet/me for 2")
    play.receives("gw", "D_KEYEXPR 2 fleet", "INTEREST 2 current KT [ours 2]/*")
    play.sends("gw", token(0, "fleet/a", answer_to=2), token(0, "fleet/me", answer_to=2))
    play.receives("app", "D_TOKEN 0 fleet/a for 2")
    play.sends("gw", final(2))
    play.receives("app", "D_FINAL for 2")
    play.sends("gw", token(0, "fleet/late", answer_to=2), final(2))
    play.nothing_received()
    assert play.faces["gw"].up_by_id == {}
    assert play.faces["gw"].held[2] == {}


def test_a_get_without_answer_ends_after_ten_seconds() -> None:
    play = connected("client", {"app": "", "gw": "router"})
    play.sends("app", interest(2, "current", "KT", "fleet/*"))
    play.time_passes(10)
    play.receives("app", "D_FINAL for 2")
    assert play.faces["gw"].up_by_id == {}


def test_a_get_goes_to_one_gateway_a_subscriber_to_all() -> None:
    play = connected("peer", {"app": "", "r1": "router", "r2": "router"}, gossip=False)
    play.sends("app", interest(1, "current", "KT", "*"))
    play.receives("r1", "INTEREST 1 current KT *")
    play.receives("r2")
    play.sends("app", interest(2, "current_future", "KT", "*"))
    play.receives("r1", "INTEREST 2 current_future KT *")
    play.receives("r2", "INTEREST 1 current_future KT *")
    play.sends("r1", final(1), final(2))
    play.receives("app", "D_FINAL for 1")
    play.sends("r2", final(1))
    play.receives("app", "D_FINAL for 2")


def test_the_end_of_an_unknown_token_is_announced_if_it_has_a_key() -> None:
    play = connected("client", {"app": "", "gw": "router"})
    play.sends("app", interest(1, "future", "KT", "fleet/*"))
    play.clear_received()
    play.sends("gw", no_token(0), no_token(17))
    play.nothing_received()
    play.sends("gw", no_token(0, "fleet/x"))
    play.receives("app", "U_TOKEN 0 fleet/x")


def test_a_token_seen_twice_with_one_id_is_announced_once() -> None:
    play = broker()
    play.sends("app", interest(1, "current_future", "KT", "**"))
    play.sends("c1", token(1, "a"), token(1, "a"))
    play.receives("app", "D_FINAL for 1", "D_TOKEN 1 a")


def test_after_the_interest_has_ended_its_tokens_are_not_undeclared() -> None:
    play = broker()
    play.sends("c1", token(1, "a"))
    play.sends("c2", interest(1, "current_future", "KT", "**"))
    play.clear_received()
    play.sends("c2", end_interest(1))
    play.nothing_received()
    play.sends("c1", token(2, "b"))
    play.nothing_received()
    play.sends("c1", no_token(1))
    play.receives("c2", "U_TOKEN 1")
