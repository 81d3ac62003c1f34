from __future__ import annotations

from zenlake.protocol.token_bucket import TokenBucket


def test_bucket_starts_full_and_fills_with_time() -> None:
    allowance = TokenBucket(10, 2, now=100.0)
    assert allowance.spend(10, 100.0)
    assert not allowance.spend(1, 100.4)
    assert allowance.spend(1, 100.5)
    assert not allowance.spend(1, 100.5)


def test_bucket_accumulates_no_more_than_its_capacity() -> None:
    allowance = TokenBucket(3, 2, now=0.0)
    assert not allowance.spend(4, 1e9)
    assert allowance.spend(3, 1e9)
    assert not allowance.spend(1, 1e9)


def test_time_that_goes_back_adds_no_tokens() -> None:
    allowance = TokenBucket(1, 1, now=10.0)
    assert allowance.spend(1, 10.0)
    assert not allowance.spend(1, 5.0)
