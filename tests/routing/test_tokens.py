"""Liveliness at the dispatcher (§2.8, §3.2, §3.6)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    alias,
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
    play.enters("app")
    for name in ("c1", "c2", "c3"):
        play.enters(name, "client")
    return play


def test_history_gets_what_is_alive_with_real_ids() -> None:
    play = broker()
    play.says("c1", token(1, "fleet/a"), token(2, "fleet/b"))
    play.says("c2", alias(1, "fleet"), interest(1, "current_future", "KT", WireExpr(1, "/**")))
    play.hears(
        "c2",
        "D_KEYEXPR 2 fleet/b",
        "D_TOKEN 1 [ours 2] for 1",
        "D_KEYEXPR 3 fleet/a",
        "D_TOKEN 2 [ours 3] for 1",
        "D_FINAL for 1",
    )
    play.says("c2", interest(2, "current_future", "KT", "fleet/a"))
    play.hears("c2", "D_TOKEN 2 [ours 3] for 2", "D_FINAL for 2")
    play.says("c1", no_token(1))
    play.hears("c2", "U_TOKEN 2")


def test_a_get_gets_what_is_alive_with_id_zero() -> None:
    play = broker()
    play.says("c1", token(1, "fleet/a"))
    play.says("c2", interest(1, "current", "KT", "fleet/**"))
    play.hears("c2", "D_TOKEN 0 fleet/a for 1", "D_FINAL for 1")
    play.says("c1", no_token(1))
    play.silence()


def test_without_history_only_the_future_is_announced() -> None:
    """As in the recorded conversation: also the end of a token that it never got."""
    play = broker()
    play.says("c1", token(1, "fleet/a"), token(2, "fleet/b"))
    play.says("c2", interest(1, "future", "KT", "fleet/**"))
    play.hears("c2", "D_FINAL for 1")
    play.says("c3", token(1, "fleet/c"))
    play.hears("c2", "D_KEYEXPR 1 fleet/c", "D_TOKEN 1 [ours 1]")
    # A twin of a token that existed before: appears now, goes with the last.
    play.says("c3", token(2, "fleet/a"))
    play.hears("c2", "D_KEYEXPR 2 fleet/a", "D_TOKEN 2 [ours 2]")
    play.says("c1", no_token(1))
    play.silence()
    play.says("c3", no_token(2))
    play.hears("c2", "U_TOKEN 2")
    play.says("c1", no_token(2))
    play.hears("c2", "D_KEYEXPR 3 fleet/b", "U_TOKEN 0 [ours 3]")


def test_one_of_two_unknown_twins_going_is_no_news() -> None:
    play = broker()
    play.says("c1", token(1, "t"))
    play.says("c3", token(1, "t"))
    play.says("c2", interest(1, "future", "KT", "t"))
    play.forget()
    play.says("c1", no_token(1))
    play.silence()
    play.says("c3", no_token(1))
    play.hears("c2", "D_KEYEXPR 1 t", "U_TOKEN 0 [ours 1]")


@pytest.mark.parametrize("slices", range(8))
def test_the_end_of_two_unknown_holders_is_announced_once(slices: int) -> None:
    """The second holder ends while the end of the first is announced, in slices of one step.

    Its removal has more to do before it comes to the token.
    """
    play = broker()
    play.says("c1", token(1, "t"))
    play.says("c3", subscriber(1, "s"), subscriber(2, "s"), token(3, "t"))
    play.says("app", interest(1, "future", "KT", "t"))
    play.says("c2", interest(1, "future", "KT", "t"))
    play.forget()
    play.dispatcher.remove_face(play.faces["c1"], play.now, 1)
    for _ in range(slices):
        play.dispatcher.run_jobs(1)
    play.slice_steps = 1
    play.leaves("c3")
    play.hears("app", "U_TOKEN 0 t")
    play.hears("c2", "D_KEYEXPR 1 t", "U_TOKEN 0 [ours 1]")


@pytest.mark.parametrize("slices", range(8))
def test_the_end_of_two_known_holders_is_announced_once(slices: int) -> None:
    """The same with a token that was announced: the job for the first holder sees both ends."""
    play = broker()
    play.enters("p1", "peer")
    play.says("app", interest(1, "future", "KT", "t"))
    play.says("c1", token(1, "t"))
    play.says("c3", token(1, "t"))
    play.forget()
    play.slice_steps = 1
    for name in ("c1", "c3"):
        play.dispatcher.receive_run(play.faces[name], [no_token(1)], 0, 1, True, play.now, 1)
        for _ in range(slices):
            play.dispatcher.run_jobs(1)
    play.work()
    play.hears("app", "U_TOKEN 1")


def test_tokens_of_an_application_are_announced_to_it() -> None:
    play = broker()
    play.says("app", token(1, "me"), interest(2, "current_future", "KT", "*"))
    play.hears("app", "D_TOKEN 1 me for 2", "D_FINAL for 2")
    play.says("app", no_token(1))
    play.hears("app", "U_TOKEN 1")
    play.says("app", token(3, "me"))
    play.hears("app", "D_TOKEN 2 me")


def test_tokens_of_a_client_are_not_announced_to_it() -> None:
    play = broker()
    play.says("c1", token(1, "me"), interest(2, "current_future", "KT", "*"))
    play.hears("c1", "D_FINAL for 2")


def test_a_killed_client_takes_its_tokens_with_it() -> None:
    play = broker()
    play.says("app", interest(1, "current_future", "KT", "**"))
    play.says("c1", token(1, "a"), token(2, "b"), token(3, "a"))
    play.hears("app", "D_FINAL for 1", "D_TOKEN 1 a", "D_TOKEN 2 b")
    play.leaves("c1")
    play.hears("app", "U_TOKEN 1", "U_TOKEN 2")


def test_the_lost_gateway_takes_its_tokens_with_it() -> None:
    play = Play("client")
    play.enters("app")
    play.enters("gw", "router")
    play.says("app", interest(1, "current_future", "KT", "**"))
    play.says("gw", token(9, "a", answer_to=1), final(1))
    play.hears("app", "D_TOKEN 1 a for 1", "D_FINAL for 1")
    play.leaves("gw")
    play.hears("app", "U_TOKEN 1")
    play.enters("gw", "router")
    play.says("gw", token(1, "a", answer_to=1), final(1))
    play.hears("app", "D_TOKEN 2 a")


def test_a_token_numbered_zero_lives_like_any_other() -> None:
    """SN-100: routers of 1.0.4 and 1.5.1 begin with it."""
    play = Play("client")
    play.enters("app")
    play.enters("gw", "router")
    play.says("app", interest(1, "current_future", "KT", "**"))
    play.says("gw", token(0, "a", answer_to=1), final(1))
    play.hears("app", "D_TOKEN 1 a for 1", "D_FINAL for 1")
    play.says("gw", no_token(0))
    play.hears("app", "U_TOKEN 1")


def test_a_get_passes_through_a_client_and_leaves_nothing() -> None:
    play = Play("client")
    play.enters("app")
    play.enters("gw", "router")
    play.says("app", token(1, "fleet/me"))
    play.forget()
    play.says("app", interest(2, "current", "KT", "fleet/*"))
    play.hears("app", "D_TOKEN 0 fleet/me for 2")
    play.hears("gw", "D_KEYEXPR 2 fleet", "INTEREST 2 current KT [ours 2]/*")
    play.says("gw", token(0, "fleet/a", answer_to=2), token(0, "fleet/me", answer_to=2))
    play.hears("app", "D_TOKEN 0 fleet/a for 2")
    play.says("gw", final(2))
    play.hears("app", "D_FINAL for 2")
    play.says("gw", token(0, "fleet/late", answer_to=2), final(2))
    play.silence()
    assert play.faces["gw"].up_by_id == {}
    assert play.faces["gw"].held[2] == {}


def test_a_get_without_answer_ends_after_ten_seconds() -> None:
    play = Play("client")
    play.enters("app")
    play.enters("gw", "router")
    play.says("app", interest(2, "current", "KT", "fleet/*"))
    play.passes(10)
    play.hears("app", "D_FINAL for 2")
    assert play.faces["gw"].up_by_id == {}


def test_a_get_goes_to_one_gateway_a_subscriber_to_all() -> None:
    play = Play("peer", gossip=False)
    play.enters("app")
    play.enters("r1", "router")
    play.enters("r2", "router")
    play.says("app", interest(1, "current", "KT", "*"))
    play.hears("r1", "INTEREST 1 current KT *")
    play.hears("r2")
    play.says("app", interest(2, "current_future", "KT", "*"))
    play.hears("r1", "INTEREST 2 current_future KT *")
    play.hears("r2", "INTEREST 1 current_future KT *")
    play.says("r1", final(1), final(2))
    play.hears("app", "D_FINAL for 1")
    play.says("r2", final(1))
    play.hears("app", "D_FINAL for 2")


def test_the_end_of_an_unknown_token_counts_if_it_has_a_key() -> None:
    play = Play("client")
    play.enters("app")
    play.enters("gw", "router")
    play.says("app", interest(1, "future", "KT", "fleet/*"))
    play.forget()
    play.says("gw", no_token(0), no_token(17))
    play.silence()
    play.says("gw", no_token(0, "fleet/x"))
    play.hears("app", "U_TOKEN 0 fleet/x")


def test_a_token_seen_twice_with_one_id_is_announced_once() -> None:
    play = broker()
    play.says("app", interest(1, "current_future", "KT", "**"))
    play.says("c1", token(1, "a"), token(1, "a"))
    play.hears("app", "D_FINAL for 1", "D_TOKEN 1 a")


def test_after_the_interest_has_ended_its_tokens_are_not_undeclared() -> None:
    play = broker()
    play.says("c1", token(1, "a"))
    play.says("c2", interest(1, "current_future", "KT", "**"))
    play.forget()
    play.says("c2", end_interest(1))
    play.silence()
    play.says("c1", token(2, "b"))
    play.silence()
    play.says("c1", no_token(1))
    play.hears("c2", "U_TOKEN 1")
