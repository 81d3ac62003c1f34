"""A node in mode client: one gateway above, the application below (§3.2)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    alias,
    connected,
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
    return connected("client", {"app": "", "gw": "router"})


def test_a_client_without_declarations_sends_nothing() -> None:
    client().nothing_received()


def test_two_clients_do_not_connect() -> None:
    with pytest.raises(LocalError):
        Play("client").connects("c", "client")


def test_a_put_without_a_publisher_is_sent_at_once() -> None:
    play = client()
    play.sends("app", put("demo/x"))
    play.receives("gw", "PUT x demo/x")


def test_a_publisher_is_filtered_at_its_own_node() -> None:
    """The exchange of §3.7, message by message."""
    play = client()
    play.sends("app", interest(7, "current_future", "KS", "demo/p"))
    play.receives("gw", "D_KEYEXPR 1 demo/p", "INTEREST 1 current_future KS [ours 1]")
    play.sends("app", put("demo/p", "early"))
    play.receives("gw", "PUT early [ours 1]")
    play.sends("gw", final(1))
    play.receives("app", "D_FINAL for 7")
    play.sends("app", put("demo/p", "filtered"))
    play.nothing_received()
    play.sends("gw", subscriber(1, "demo/**"))
    play.receives("app", "D_SUB 1 demo/**")
    play.sends("app", put("demo/p", "wanted"))
    play.receives("gw", "PUT wanted [ours 1]")
    play.sends("gw", no_subscriber(1))
    play.receives("app", "U_SUB 1")
    play.sends("app", put("demo/p", "filtered"))
    play.nothing_received()
    play.sends("app", end_interest(7))
    play.receives("gw", "INTEREST 1 final")
    play.sends("app", put("demo/p", "plain again"))
    play.receives("gw", "PUT plain again [ours 1]")


def test_only_the_exact_key_of_an_interest_is_filtered() -> None:
    play = client()
    play.sends("app", interest(1, "current_future", "KS", "demo/**"))
    play.sends("gw", final(1))
    play.clear_received()
    play.sends("app", put("demo/x"))
    play.receives("gw", "PUT x [ours 1]/x")


def test_matching_subscribers_are_part_of_the_answer() -> None:
    play = client()
    play.sends("app", interest(7, "current_future", "KS", "demo/p"))
    play.sends("gw", subscriber(4, "demo/**", answer_to=1), final(1))
    play.receives("app", "D_SUB 1 demo/** for 7", "D_FINAL for 7")


def test_a_querier_asks_for_queryables() -> None:
    play = client()
    play.sends("app", interest(3, "current_future", "KQ", "q/*"))
    play.receives("gw", "D_KEYEXPR 1 q", "INTEREST 1 current_future KQ [ours 1]/*")
    play.sends("gw", queryable(2, "q/**", complete=True, distance=3, answer_to=1), final(1))
    play.receives("app", "D_QBL 1 q/** (complete, distance 3) for 3", "D_FINAL for 3")
    play.sends("gw", queryable(2, "q/**"))
    play.receives("app", "D_QBL 1 q/**")
    play.sends("gw", no_queryable(2))
    play.receives("app", "U_QBL 1")


def test_entities_are_declared_unasked() -> None:
    play = client()
    play.sends("app", subscriber(5, "demo/**"), queryable(6, "q", complete=True))
    play.sends("app", token(7, "alive/me"))
    play.receives(
        "gw",
        "D_KEYEXPR 1 demo",
        "D_SUB 1 [ours 1]/**",
        "D_KEYEXPR 2 q",
        "D_QBL 2 [ours 2] (complete, distance 0)",
        "D_KEYEXPR 3 alive/me",
        "D_TOKEN 3 [ours 3]",
    )
    play.sends("app", no_subscriber(5), no_queryable(6), no_token(7))
    play.receives("gw", "U_SUB 1", "U_QBL 2", "U_TOKEN 3")
    play.receives("app")


def test_equal_entities_are_declared_once_and_undeclared_with_the_last() -> None:
    play = client()
    play.sends("app", subscriber(1, "k"), subscriber(2, "k"))
    play.receives("gw", "D_KEYEXPR 1 k", "D_SUB 1 [ours 1]")
    play.sends("app", no_subscriber(1))
    play.nothing_received()
    play.sends("app", no_subscriber(2))
    play.receives("gw", "U_SUB 1")


def test_after_reconnection_interests_are_sent_first_and_with_full_keys() -> None:
    play = client()
    play.sends("app", token(1, "t"), queryable(2, "q"), subscriber(3, "s"))
    play.sends("app", interest(4, "future", "KT", "t/*"))
    play.disconnects("gw")
    play.connects("gw", "router")
    play.receives(
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
    play.sends("app", interest(1, "current_future", "KS", "p"))
    play.sends("gw", final(1))
    play.disconnects("gw")
    play.connects("gw", "router")
    play.clear_received()
    play.sends("app", put("p", "a"))
    play.receives("gw", "PUT a [ours 1]")
    play.sends("gw", final(1))
    play.receives("app")
    play.sends("app", put("p", "b"))
    play.nothing_received()


def test_equal_interests_are_sent_once_and_ended_with_the_last() -> None:
    play = client()
    play.connects("app2")
    play.sends("app", interest(1, "current_future", "KS", "p"))
    play.sends("app2", interest(1, "current_future", "KS", "p"))
    play.receives("gw", "D_KEYEXPR 1 p", "INTEREST 1 current_future KS [ours 1]")
    play.sends("gw", final(1))
    play.receives("app", "D_FINAL for 1")
    play.receives("app2", "D_FINAL for 1")
    play.sends("app", end_interest(1))
    play.nothing_received()
    play.sends("app2", end_interest(1))
    play.receives("gw", "INTEREST 1 final")


def test_an_answer_waits_ten_seconds_for_the_gateway() -> None:
    play = client()
    play.sends("app", interest(1, "current_future", "KS", "p"))
    play.time_passes(9.9)
    play.receives("app")
    play.time_passes(0.2)
    play.receives("app", "D_FINAL for 1")
    play.sends("gw", final(1))
    play.receives("app")
    assert play.dispatcher.next_deadline() is None


def test_an_answer_does_not_wait_for_a_dead_gateway() -> None:
    play = client()
    play.sends("app", interest(1, "current_future", "KS", "p"))
    play.disconnects("gw")
    play.receives("app", "D_FINAL for 1")
    assert play.dispatcher.next_deadline() is None


def test_without_a_gateway_an_interest_is_answered_at_once() -> None:
    play = Play("client")
    play.connects("app")
    play.sends("app", interest(1, "current_future", "KS", "p"), interest(2, "current", "KT", "**"))
    play.receives("app", "D_FINAL for 1", "D_FINAL for 2")


def test_aliases_of_the_gateway_are_resolved() -> None:
    play = client()
    play.sends("app", subscriber(1, "demo/**"))
    play.receives("gw", "D_KEYEXPR 1 demo", "D_SUB 1 [ours 1]/**")
    play.sends("gw", put(WireExpr(1, "/a", sender=False)), alias(1, "demo/b"))
    play.sends("gw", put(WireExpr(1, "/c", sender=True)))
    play.receives("app", "PUT x demo/a", "PUT x demo/b/c")


def test_an_interest_of_the_gateway_is_ignored() -> None:
    play = client()
    play.sends("app", subscriber(1, "s"))
    play.clear_received()
    play.sends("gw", interest(1, "current_future", "KS", "**"))
    play.nothing_received()
    assert play.dispatcher.counters.ignored_interests == 1
