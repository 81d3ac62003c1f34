"""A node in mode client: one gateway above, the application below (§3.2)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    alias,
    end_interest,
    final,
    interest,
    no_queryable,
    no_subscriber,
    no_token,
    put,
    queryable,
    subscriber,
    token,
)
from zenlake.errors import LocalError
from zenlake.wire import WireExpr


def client() -> Play:
    play = Play("client")
    play.enters("app")
    play.enters("gw", "router")
    return play


def test_with_nothing_declared_nothing_is_sent() -> None:
    client().silence()


def test_two_clients_do_not_connect() -> None:
    with pytest.raises(LocalError):
        Play("client").enters("c", "client")


def test_a_plain_put_is_sent_straight_away() -> None:
    play = client()
    play.says("app", put("demo/x"))
    play.hears("gw", "PUT x demo/x")


def test_a_publisher_is_filtered_at_its_own_node() -> None:
    """The exchange of §3.7, message by message."""
    play = client()
    play.says("app", interest(7, "current_future", "KS", "demo/p"))
    play.hears("gw", "D_KEYEXPR 1 demo/p", "INTEREST 1 current_future KS [ours 1]")
    play.says("app", put("demo/p", "early"))
    play.hears("gw", "PUT early [ours 1]")
    play.says("gw", final(1))
    play.hears("app", "D_FINAL for 7")
    play.says("app", put("demo/p", "filtered"))
    play.silence()
    play.says("gw", subscriber(1, "demo/**"))
    play.hears("app", "D_SUB 1 demo/**")
    play.says("app", put("demo/p", "wanted"))
    play.hears("gw", "PUT wanted [ours 1]")
    play.says("gw", no_subscriber(1))
    play.hears("app", "U_SUB 1")
    play.says("app", put("demo/p", "filtered"))
    play.silence()
    play.says("app", end_interest(7))
    play.hears("gw", "INTEREST 1 final")
    play.says("app", put("demo/p", "plain again"))
    play.hears("gw", "PUT plain again [ours 1]")


def test_only_the_exact_key_of_an_interest_is_filtered() -> None:
    play = client()
    play.says("app", interest(1, "current_future", "KS", "demo/**"))
    play.says("gw", final(1))
    play.forget()
    play.says("app", put("demo/x"))
    play.hears("gw", "PUT x [ours 1]/x")


def test_matching_subscribers_are_part_of_the_answer() -> None:
    play = client()
    play.says("app", interest(7, "current_future", "KS", "demo/p"))
    play.says("gw", subscriber(4, "demo/**", answer_to=1), final(1))
    play.hears("app", "D_SUB 1 demo/** for 7", "D_FINAL for 7")


def test_a_querier_asks_for_queryables() -> None:
    play = client()
    play.says("app", interest(3, "current_future", "KQ", "q/*"))
    play.hears("gw", "D_KEYEXPR 1 q", "INTEREST 1 current_future KQ [ours 1]/*")
    play.says("gw", queryable(2, "q/**", complete=True, distance=3, answer_to=1), final(1))
    play.hears("app", "D_QBL 1 q/** (complete, distance 3) for 3", "D_FINAL for 3")
    play.says("gw", queryable(2, "q/**"))
    play.hears("app", "D_QBL 1 q/**")
    play.says("gw", no_queryable(2))
    play.hears("app", "U_QBL 1")


def test_entities_are_declared_unasked() -> None:
    play = client()
    play.says("app", subscriber(5, "demo/**"), queryable(6, "q", complete=True))
    play.says("app", token(7, "alive/me"))
    play.hears(
        "gw",
        "D_KEYEXPR 1 demo",
        "D_SUB 1 [ours 1]/**",
        "D_KEYEXPR 2 q",
        "D_QBL 2 [ours 2] (complete, distance 0)",
        "D_KEYEXPR 3 alive/me",
        "D_TOKEN 3 [ours 3]",
    )
    play.says("app", no_subscriber(5), no_queryable(6), no_token(7))
    play.hears("gw", "U_SUB 1", "U_QBL 2", "U_TOKEN 3")
    play.hears("app")


def test_twins_are_declared_once_and_undeclared_with_the_last() -> None:
    play = client()
    play.says("app", subscriber(1, "k"), subscriber(2, "k"))
    play.hears("gw", "D_KEYEXPR 1 k", "D_SUB 1 [ours 1]")
    play.says("app", no_subscriber(1))
    play.silence()
    play.says("app", no_subscriber(2))
    play.hears("gw", "U_SUB 1")


def test_after_reconnection_interests_come_first_and_in_full() -> None:
    play = client()
    play.says("app", token(1, "t"), queryable(2, "q"), subscriber(3, "s"))
    play.says("app", interest(4, "future", "KT", "t/*"))
    play.leaves("gw")
    play.enters("gw", "router")
    play.hears(
        "gw",
        "D_KEYEXPR 1 t",
        "INTEREST 1 current_future KT [ours 1]/*",
        "D_KEYEXPR 2 s",
        "D_SUB 2 [ours 2]",
        "D_KEYEXPR 3 q",
        "D_QBL 3 [ours 3]",
        "D_TOKEN 4 [ours 1]",
    )


def test_a_new_gateway_gets_everything_until_it_has_answered() -> None:
    play = client()
    play.says("app", interest(1, "current_future", "KS", "p"))
    play.says("gw", final(1))
    play.leaves("gw")
    play.enters("gw", "router")
    play.forget()
    play.says("app", put("p", "a"))
    play.hears("gw", "PUT a [ours 1]")
    play.says("gw", final(1))
    play.hears("app")
    play.says("app", put("p", "b"))
    play.silence()


def test_an_equal_interest_is_asked_once_and_ended_with_the_last() -> None:
    play = client()
    play.enters("app2")
    play.says("app", interest(1, "current_future", "KS", "p"))
    play.says("app2", interest(1, "current_future", "KS", "p"))
    play.hears("gw", "D_KEYEXPR 1 p", "INTEREST 1 current_future KS [ours 1]")
    play.says("gw", final(1))
    play.hears("app", "D_FINAL for 1")
    play.hears("app2", "D_FINAL for 1")
    play.says("app", end_interest(1))
    play.silence()
    play.says("app2", end_interest(1))
    play.hears("gw", "INTEREST 1 final")


def test_an_answer_waits_ten_seconds_for_the_gateway() -> None:
    play = client()
    play.says("app", interest(1, "current_future", "KS", "p"))
    play.passes(9.9)
    play.hears("app")
    play.passes(0.2)
    play.hears("app", "D_FINAL for 1")
    play.says("gw", final(1))
    play.hears("app")
    assert play.dispatcher.next_deadline() is None


def test_an_answer_does_not_wait_for_a_dead_gateway() -> None:
    play = client()
    play.says("app", interest(1, "current_future", "KS", "p"))
    play.leaves("gw")
    play.hears("app", "D_FINAL for 1")
    assert play.dispatcher.next_deadline() is None


def test_without_a_gateway_the_answer_is_given_at_once() -> None:
    play = Play("client")
    play.enters("app")
    play.says("app", interest(1, "current_future", "KS", "p"), interest(2, "current", "KT", "**"))
    play.hears("app", "D_FINAL for 1", "D_FINAL for 2")


def test_the_keys_of_the_gateway_are_understood() -> None:
    play = client()
    play.says("app", subscriber(1, "demo/**"))
    play.hears("gw", "D_KEYEXPR 1 demo", "D_SUB 1 [ours 1]/**")
    play.says("gw", put(WireExpr(1, "/a", sender=False)), alias(1, "demo/b"))
    play.says("gw", put(WireExpr(1, "/c", sender=True)))
    play.hears("app", "PUT x demo/a", "PUT x demo/b/c")


def test_an_interest_from_above_is_ignored() -> None:
    play = client()
    play.says("app", subscriber(1, "s"))
    play.forget()
    play.says("gw", interest(1, "current_future", "KS", "**"))
    play.silence()
    assert play.dispatcher.counters.ignored_interests == 1
