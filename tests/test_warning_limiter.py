"""Limits of frequent warnings."""

from __future__ import annotations

from zenlake.warning_limiter import WARNING_SECONDS, WarningLimiter


def test_one_of_a_kind_is_admitted_per_period_and_the_others_are_counted() -> None:
    limiter = WarningLimiter()
    assert limiter.admit("a", 5.0)
    assert limiter.suppressed_text("a") == ""
    assert not limiter.admit("a", 5.0)
    assert not limiter.admit("a", 5.0 + WARNING_SECONDS - 0.1)
    assert limiter.admit("b", 6.0)
    assert limiter.admit("a", 5.0 + WARNING_SECONDS)
    assert limiter.suppressed_text("a") == " (2 more since the last warning)"
    assert limiter.suppressed_text("a") == ""


def test_kinds_are_bounded() -> None:
    limiter = WarningLimiter()
    for number in range(1_000):
        assert limiter.admit(str(number), 0.0)
        assert not limiter.admit(str(number), 0.0)
    assert len(limiter._next) <= 256
    assert len(limiter._suppressed) <= 256
