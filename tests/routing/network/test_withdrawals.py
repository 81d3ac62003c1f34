"""Recent undeclarations of routers (routing/network/withdrawals.py)."""

from __future__ import annotations

from tests.routing.network.mesh import Router
from zenlake.limits import WITHDRAWALS_MAX
from zenlake.routing.declarations.entity import SUBSCRIBER, TOKEN
from zenlake.routing.face import Face
from zenlake.routing.network.withdrawals import KEPT_S, Withdrawals


def make_source() -> Face:
    return Router("a1").face("b2")[0]


def test_entity_declared_again_is_no_longer_withdrawn() -> None:
    source, withdrawals = make_source(), Withdrawals()
    withdrawals.add(source, TOKEN, "a", 0.0)
    withdrawals.add(source, TOKEN, "a", 1.0)
    withdrawals.add(source, SUBSCRIBER, "a", 1.0)
    assert withdrawals.has(source, TOKEN, "a")
    assert withdrawals.recent(source, 2.0) == [(TOKEN, "a"), (SUBSCRIBER, "a")]
    withdrawals.discard(source, TOKEN, "a")
    withdrawals.discard(source, TOKEN, "b")
    assert not withdrawals.has(source, TOKEN, "a")
    assert withdrawals.recent(source, 2.0) == [(SUBSCRIBER, "a")]
    assert withdrawals.recent(make_source(), 2.0) == []


def test_withdrawals_are_forgotten_after_a_while() -> None:
    source, withdrawals = make_source(), Withdrawals()
    withdrawals.add(source, TOKEN, "a", 0.0)
    withdrawals.add(source, TOKEN, "b", 5.0)
    assert withdrawals.recent(source, KEPT_S + 1.0) == [(TOKEN, "b")]
    assert withdrawals.recent(source, KEPT_S + 5.0) == []
    assert source.account.held_bytes == 0


def test_the_oldest_is_forgotten_beyond_the_limit() -> None:
    source, withdrawals = make_source(), Withdrawals()
    for number in range(WITHDRAWALS_MAX + 10):
        withdrawals.add(source, TOKEN, f"a/{number}", 0.0)
    assert len(withdrawals.recent(source, 0.0)) < WITHDRAWALS_MAX
    assert withdrawals.has(source, TOKEN, f"a/{WITHDRAWALS_MAX + 9}")
    for _, key in withdrawals.recent(source, 0.0):
        withdrawals.discard(source, TOKEN, key)
    assert source.account.held_bytes == 0
