"""Limits of frequent warnings."""

from __future__ import annotations

from zenlake.warning_limiter import WARNING_SECONDS, WarningLimiter


def test_one_of_a_kind_is_admitted_per_period_and_the_others_are_counted() -> None:
    limiter = WarningLimiter()
    assert limiter.admit("a", 5.0) == ""
    assert limiter.admit("a", 5.0) is None
    assert limiter.admit("a", 5.0 + WARNING_SECONDS - 0.1) is None
    assert limiter.admit("b", 6.0) == ""
    assert limiter.admit("a", 5.0 + WARNING_SECONDS) == " (2 more since the last warning)"
    assert limiter.admit("a", 5.0 + 2 * WARNING_SECONDS) == ""


def test_kinds_are_bounded() -> None:
    limiter = WarningLimiter()
    for number in range(1_000):
        assert limiter.admit(str(number), 0.0) == ""
        assert limiter.admit(str(number), 0.0) is None
    assert len(limiter._next) <= 256
    assert len(limiter._suppressed) <= 256
