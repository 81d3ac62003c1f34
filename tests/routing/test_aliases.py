"""Aliases of keys, valid and invalid ones (§3.5)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    alias,
    connected,
    interest,
    no_alias,
    put,
    request,
    subscriber,
    token,
)
from zenlake.limits import ALIAS_BYTES_MAX, ALIASES_MAX
from zenlake.routing.declarations.key_table import KeyTable
from zenlake.routing.memory import Account
from zenlake.wire import Declare, DeclareKeyExpr, WireExpr


@pytest.fixture
def play() -> Play:
    play = connected("peer", {"app": "", "c1": "client"}, gossip=False)
    play.sends("app", subscriber(1, "**"))
    return play


def test_an_alias_that_was_never_declared_is_dropped(play: Play) -> None:
    play.sends("c1", put(WireExpr(1, "/x")), subscriber(1, WireExpr(2, "/y")))
    play.sends("c1", token(1, WireExpr(3)), interest(1, "current", "T", WireExpr(4)))
    play.nothing_received()
    assert play.dispatcher.counters.unknown_aliases == 4
    play.sends("c1", request(1, WireExpr(5)))
    play.receives("c1", "RESPONSE_FINAL 1")


def test_an_undeclared_alias_is_dropped(play: Play) -> None:
    play.sends("c1", alias(1, "a"), put(WireExpr(1)), no_alias(1), put(WireExpr(1)), no_alias(1))
    play.receives("app", "PUT x a")
    assert play.dispatcher.counters.unknown_aliases == 1
    assert play.dispatcher.counters.unknown_undeclarations == 1


def test_a_declared_alias_cannot_be_declared_for_another_key(play: Play) -> None:
    play.sends("c1", alias(1, "a"), alias(1, "b"), alias(1, "a"), put(WireExpr(1)))
    play.receives("app", "PUT x a")
    assert play.dispatcher.counters.redefined_aliases == 1
    play.sends("c1", no_alias(1), alias(1, "b"), put(WireExpr(1)))
    play.receives("app", "PUT x b")


def test_aliases_of_both_sides_are_not_confused(play: Play) -> None:
    play.sends("c1", alias(1, "theirs"))
    play.sends("c1", put(WireExpr(1, "/x", sender=False)))
    play.receives("app")
    assert play.dispatcher.counters.unknown_aliases == 1


def test_an_alias_within_a_declaration_is_one_of_ours() -> None:
    play = connected("peer", {"app": "", "p": "peer"}, gossip=False)
    play.sends("app", subscriber(1, "demo/**"))
    play.receives("p", "D_FINAL for 0", "D_KEYEXPR 1 demo", "D_SUB 1 [ours 1]/**")
    play.sends("p", Declare(DeclareKeyExpr(9, WireExpr(1, "/x"))), put(WireExpr(9)))
    play.receives("app", "PUT x demo/x")


def test_alias_zero_and_invalid_keys_are_refused(play: Play) -> None:
    play.sends("c1", alias(0, "a"), alias(1, "a//b"), alias(2, ""))
    assert play.faces["c1"].keys.theirs == {}
    assert play.dispatcher.counters.refused_aliases == 1
    assert play.dispatcher.counters.invalid_keys == 2


def test_the_bytes_of_keys_with_aliases_are_limited(play: Play) -> None:
    key = "k" * 4000
    count = ALIAS_BYTES_MAX // 4000
    for id in range(1, count + 5):
        play.sends("c1", alias(id, key))
    assert len(play.faces["c1"].keys.theirs) == count
    assert play.dispatcher.counters.refused_aliases == 4
    play.sends("c1", no_alias(1), alias(1, key))
    assert len(play.faces["c1"].keys.theirs) == count


def test_keys_are_sent_in_full_when_no_alias_is_free() -> None:
    table = KeyTable(Account())
    for id in range(1, ALIASES_MAX + 1):
        assert table.learn(id, f"k{id}")
    assert not table.learn(ALIASES_MAX + 1, "k")
    assert table.define("mine") == 0
    assert table.shortest("mine/x") == WireExpr(0, "mine/x")
    assert table.forget(4)
    assert table.define("mine") == 0 or table.ours


def test_our_own_aliases_are_limited_too() -> None:
    table = KeyTable(Account())
    ids = [table.define(f"k{n}") for n in range(ALIASES_MAX + 1)]
    assert ids == [*range(1, ALIASES_MAX + 1), 0]


def test_new_aliases_differ_from_those_of_both_sides() -> None:
    table = KeyTable(Account())
    table.learn(1, "a")
    table.learn(3, "b")
    assert [table.define("c"), table.define("d")] == [2, 4]


def test_the_longest_prefix_is_used_and_theirs_preferred() -> None:
    table = KeyTable(Account())
    assert table.define("a/b") == 1
    table.learn(5, "a")
    table.learn(6, "a/b/c")
    assert table.define("a/b/c") == 2
    assert table.shortest("a/b/c/d") == WireExpr(6, "/d", sender=False)
    assert table.shortest("a/b/c") == WireExpr(6, "", sender=False)
    assert table.shortest("a/b/cd") == WireExpr(1, "/cd", sender=True)
    assert table.shortest("a/x") == WireExpr(5, "/x", sender=False)
    assert table.shortest("ab/c") == WireExpr(0, "ab/c")
    assert table.shortest("a/b/**") == WireExpr(1, "/**", sender=True)
