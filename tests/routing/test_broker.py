"""A peer as gateway of clients: what it answers to INTEREST (§3.2, §3.6)."""

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
    put,
    queryable,
    subscriber,
    token,
)
from zenlake.wire import WireExpr


@pytest.fixture
def play() -> Play:
    play = Play("peer", gossip=False)
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    return play


def test_a_client_without_interests_gets_no_declarations(play: Play) -> None:
    play.sends("c1", subscriber(1, "s"), queryable(2, "q"), token(3, "t"))
    play.connects("c4", "client")
    play.nothing_received()


def test_an_interest_gets_known_subscribers_and_then_the_final(play: Play) -> None:
    play.sends("c1", subscriber(1, "demo/**"), subscriber(2, "other"))
    play.sends("c2", alias(1, "demo/p"), interest(1, "current_future", "KS", WireExpr(1)))
    play.receives("c2", "D_SUB 1 demo/** for 1", "D_FINAL for 1")
    play.sends("c3", subscriber(1, "demo/p"), subscriber(2, "demo/x"))
    play.receives("c2", "D_SUB 2 [yours 1]")
    play.sends("c3", no_subscriber(1), no_subscriber(2))
    play.receives("c2", "U_SUB 2")


def test_a_key_is_announced_once_and_updated_under_the_same_id(play: Play) -> None:
    play.sends("c1", subscriber(1, "demo/**"))
    play.sends("c3", subscriber(1, "demo/**"))
    play.sends("c2", interest(1, "current_future", "KS", "demo/p"))
    play.sends("c2", interest(2, "current_future", "KS", "demo/q"))
    play.receives(
        "c2", "D_SUB 1 demo/** for 1", "D_FINAL for 1", "D_SUB 1 demo/** for 2", "D_FINAL for 2"
    )
    play.disconnects("c1")
    play.nothing_received()
    play.disconnects("c3")
    play.receives("c2", "U_SUB 1")


def test_a_face_does_not_get_its_own_entities(play: Play) -> None:
    play.sends("c1", subscriber(1, "k"), interest(1, "current_future", "KS", "k"))
    play.receives("c1", "D_FINAL for 1")
    play.sends("c2", subscriber(1, "k"))
    play.receives("c1", "D_KEYEXPR 1 k", "D_SUB 1 [ours 1]")
    play.sends("c2", no_subscriber(1))
    play.receives("c1", "U_SUB 1")


def test_infos_are_merged_and_updated_under_the_same_id(play: Play) -> None:
    play.sends("c1", queryable(1, "q", complete=False, distance=1))
    play.sends("c2", interest(1, "current_future", "Q", "q"))
    play.receives("c2", "D_QBL 1 q (incomplete, distance 1) for 1", "D_FINAL for 1")
    play.sends("c3", queryable(1, "q", complete=True, distance=5))
    play.receives("c2", "D_QBL 1 q (complete, distance 5)")
    play.sends("c1", queryable(1, "q", complete=True, distance=4))
    play.receives("c2", "D_QBL 1 q (complete, distance 4)")
    play.sends("c1", queryable(1, "q", complete=True, distance=4))
    play.nothing_received()
    play.sends("c3", no_queryable(1))
    play.nothing_received()
    play.sends("c1", queryable(1, "q"))
    play.receives("c2", "D_QBL 1 q")
    play.sends("c1", no_queryable(1))
    play.receives("c2", "U_QBL 1")


def test_interests_in_current_declarations_are_answered_for_tokens_only(play: Play) -> None:
    play.sends("c1", subscriber(1, "k"), queryable(2, "k"))
    for options in ("KS", "KQ", "KST", "K", ""):
        play.sends("c2", interest(1, "current", options, "k"))
    play.nothing_received()
    assert play.dispatcher.counters.ignored_interests == 5


def test_an_unrestricted_interest_matches_all(play: Play) -> None:
    play.sends("c1", subscriber(1, "a"), subscriber(2, "b/**"))
    play.sends("c2", interest(1, "current_future", "S"))
    play.receives("c2", "D_SUB 1 a for 1", "D_SUB 2 b/** for 1", "D_FINAL for 1")
    play.sends("c1", subscriber(3, "@v/c"))
    play.receives("c2", "D_SUB 3 @v/c")


def test_an_interest_id_in_use_is_answered_but_not_registered(play: Play) -> None:
    play.sends("c1", subscriber(1, "a"), subscriber(2, "b"))
    play.sends("c2", interest(1, "current_future", "S", "a"))
    play.sends("c2", interest(1, "current_future", "S", "b"))
    play.receives("c2", "D_SUB 1 a for 1", "D_FINAL for 1", "D_SUB 2 b for 1", "D_FINAL for 1")
    play.sends("c3", subscriber(1, "b/x"), subscriber(2, "*"))
    play.receives("c2", "D_SUB 3 *")


def test_after_final_nothing_new_is_announced(play: Play) -> None:
    play.sends("c2", interest(1, "current_future", "S", "a"))
    play.sends("c1", subscriber(1, "a"))
    play.receives("c2", "D_FINAL for 1", "D_SUB 1 a")
    play.sends("c2", end_interest(1), end_interest(1))
    play.sends("c1", subscriber(2, "*"))
    play.nothing_received()
    play.sends("c1", no_subscriber(1))
    play.receives("c2", "U_SUB 1")


def test_aliases_are_declared_only_where_the_client_may_use_them(play: Play) -> None:
    play.sends("c1", subscriber(1, "a/b"), subscriber(2, "a/**"))
    play.sends("c2", interest(1, "current_future", "S", "a/b"))
    play.receives("c2", "D_SUB 1 a/b for 1", "D_SUB 2 a/** for 1", "D_FINAL for 1")
    play.sends("c2", interest(2, "current_future", "KS", "a/b"))
    play.receives(
        "c2", "D_KEYEXPR 1 a/b", "D_SUB 1 [ours 1] for 2", "D_SUB 2 a/** for 2", "D_FINAL for 2"
    )


def test_interests_of_clients_are_forwarded_to_gateways(play: Play) -> None:
    play.connects("r1", "router")
    play.connects("r2", "router")
    play.sends("c1", interest(5, "current_future", "KS", "k"))
    play.receives("r1", "D_KEYEXPR 1 k", "INTEREST 1 current_future KS [ours 1]")
    play.receives("r2", "D_KEYEXPR 1 k", "INTEREST 1 current_future KS [ours 1]")
    play.sends("r1", subscriber(1, "*", answer_to=1), final(1))
    play.receives("c1", "D_SUB 1 * for 5")
    play.sends("r2", subscriber(1, "*", answer_to=1), final(1))
    play.receives("c1", "D_SUB 1 * for 5", "D_FINAL for 5")
    play.disconnects("c1")
    play.receives("r1", "INTEREST 1 final")
    play.receives("r2", "INTEREST 1 final")


class TestAggregate:
    """Aggregate interests, which only zenoh-pico clients send."""

    def test_aggregate_is_one_declaration_on_the_key_of_the_interest(self, play: Play) -> None:
        play.sends("c1", subscriber(1, "demo/a"), subscriber(2, "demo/b"))
        play.sends("c2", interest(1, "current_future", "KSA", "demo/*"))
        play.receives("c2", "D_SUB 1 demo/* for 1", "D_FINAL for 1")
        play.sends("c3", subscriber(1, "demo/c"))
        play.sends("c1", no_subscriber(1), no_subscriber(2))
        play.nothing_received()
        play.disconnects("c3")
        play.receives("c2", "U_SUB 1")
        play.sends("c1", subscriber(3, "demo/d"))
        play.receives("c2", "D_SUB 2 demo/*")

    def test_aggregate_is_complete_if_a_member_includes_the_whole_key(self, play: Play) -> None:
        play.sends("c2", interest(1, "current_future", "KQA", "demo/*"))
        play.receives("c2", "D_FINAL for 1")
        play.sends("c1", queryable(1, "demo/a", complete=True, distance=2))
        play.receives("c2", "D_QBL 1 demo/* (incomplete, distance 2)")
        play.sends("c1", queryable(2, "**", complete=True, distance=3))
        play.receives("c2", "D_QBL 1 demo/* (complete, distance 3)")

    def test_single_entities_have_ids_of_their_own(self, play: Play) -> None:
        play.sends("c1", subscriber(1, "demo/a"), subscriber(2, "demo/*"))
        play.sends("c2", interest(1, "current_future", "SA", "demo/*"))
        play.sends("c2", interest(2, "current_future", "S", "demo/*"))
        play.receives(
            "c2",
            "D_SUB 1 demo/* for 1",
            "D_FINAL for 1",
            "D_SUB 2 demo/a for 2",
            "D_SUB 1 demo/* for 2",
            "D_FINAL for 2",
        )
        play.sends("c1", no_subscriber(2))
        play.nothing_received()
        play.sends("c1", no_subscriber(1))
        play.receives("c2", "U_SUB 2", "U_SUB 1")

    def test_the_end_of_an_interest_undeclares_its_aggregate(self, play: Play) -> None:
        play.sends("c1", subscriber(1, "demo/a"))
        play.sends("c2", interest(1, "current_future", "SA", "demo/*"), end_interest(1))
        play.clear_received()
        play.sends("c1", no_subscriber(1))
        play.nothing_received()

    def test_aggregate_is_ignored_for_tokens_and_for_all_keys(self, play: Play) -> None:
        play.sends("c1", token(1, "demo/a"), subscriber(2, "s"))
        play.sends("c2", interest(1, "current_future", "TA", "demo/*"))
        play.receives("c2", "D_TOKEN 1 demo/a for 1", "D_FINAL for 1")
        play.sends("c2", interest(2, "current_future", "SA"))
        play.receives("c2", "D_SUB 2 s for 2", "D_FINAL for 2")


def test_a_publication_goes_from_client_to_client(play: Play) -> None:
    play.sends("c1", subscriber(1, "a/*"))
    play.sends("c2", subscriber(1, "a/b"), subscriber(2, "a/**"))
    play.sends("c1", put("a/b", "hello"))
    play.receives("c2", "PUT hello a/b")
    play.receives("c1")
