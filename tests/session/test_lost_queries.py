"""Lost queries are reported once when they happen, and counted at the end of their queryable."""

from __future__ import annotations

from zenlake.session.lost_queries import LostQueries


def test_first_loss_is_reported_and_two_are_counted() -> None:
    lost = LostQueries()
    assert "`a`" in (lost.add("a", 1, is_live=True) or "")
    assert lost.add("a", 1, is_live=True) is None
    assert lost.summarize(1, "a") == "2 queries of the queryable on `a` were lost without drop()"


def test_single_loss_is_not_reported_twice() -> None:
    lost = LostQueries()
    lost.add("a", 1, is_live=True)
    assert lost.summarize(1, "a") is None
