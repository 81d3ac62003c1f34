"""How long a connector waits before it tries again."""

from __future__ import annotations

import threading
import time

import pytest

from tests.measuring import least
from tests.node.application import opened, settings_of
from tests.waiting import until
from zenlake.node.backoff import BRIEF_S, SOON_S, Backoff
from zenlake.node.retry import Retry


def test_failures_wait_longer_and_longer() -> None:
    backoff = Backoff(Retry(1.0, 4.0, 2))
    assert [backoff.after_failure(0.0) for _ in range(5)] == [1.0, 2.0, 4.0, 4.0, 4.0]


def test_the_time_of_an_attempt_counts_as_waiting() -> None:
    backoff = Backoff(Retry(1.0, 4.0, 2))
    assert backoff.after_failure(0.25) == 0.75
    assert backoff.after_failure(5.0) == SOON_S
    assert backoff.after_failure(1.0) == 3.0


@pytest.mark.parametrize("retry", [Retry(0, 0, 0), Retry(1.0, 4.0, -1), Retry(0.001, 4.0, 0.5)])
def test_no_setting_makes_a_connector_try_without_a_wait(retry: Retry) -> None:
    backoff = Backoff(retry)
    assert all(backoff.after_failure(0.0) >= 0.01 for _ in range(10))
    assert all(backoff.after_failure(10.0) >= 0.01 for _ in range(10))
    assert all(backoff.after_loss(0.0) >= 0.01 for _ in range(10))


def test_periods_below_zero_mean_never_again_and_no_longest_wait() -> None:
    assert Backoff(Retry(-0.001, 4.0, 2)).after_failure(0.0) > 1e6
    backoff = Backoff(Retry(1.0, -0.001, 2))
    assert [backoff.after_failure(0.0) for _ in range(6)] == [1, 2, 4, 8, 16, 32]
    assert max(backoff.after_failure(0.0) for _ in range(2_000)) <= threading.TIMEOUT_MAX


@pytest.mark.parametrize("open_s", [0.0, BRIEF_S / 2, 100.0])
def test_a_transport_that_opened_resets_the_periods(open_s: float) -> None:
    backoff = Backoff(Retry(1.0, 4.0, 2))
    for _ in range(5):
        backoff.after_failure(0.0)
    assert backoff.after_loss(open_s) == SOON_S
    assert backoff.after_failure(0.0) == 1.0


def test_a_node_that_accepts_and_closes_at_once_is_not_hammered() -> None:
    backoff = Backoff(Retry(1.0, 4.0, 2))
    waits = [backoff.after_loss(0.0) for _ in range(100)]
    assert waits == sorted(waits)
    assert waits[0] == SOON_S
    assert waits[10:] == [1.0] * 90
    assert backoff.after_loss(BRIEF_S) == SOON_S
    assert backoff.after_loss(0.0) == SOON_S


def test_a_link_lost_three_times_in_a_row_is_back_soon_each_time() -> None:
    """It does not wait the second that follows a failure."""
    with opened(settings_of()) as [one], opened(settings_of(connect=one.locators())) as [other]:

        def lose() -> float:
            until(lambda: other.zid in one.runners)
            lost = one.runners[other.zid]
            lost.close()
            assert one.runners.get(other.zid) is not lost
            began = time.monotonic()
            until(lambda: other.zid in one.runners)
            return time.monotonic() - began

        lose()
        lose()
        assert least(lose, 0.8, tries=5) < 0.8
