"""Which messages are sent at once, and which wait for others."""

from __future__ import annotations

from math import inf

from zenlake.node.send_budget import MESSAGES_PER_CLOCK_READ_MAX, SendBudget

APART_S = 0.0003
CALL_S = 0.00001


def test_messages_that_come_slowly_are_all_sent_at_once() -> None:
    budget = SendBudget()
    for index in range(1000):
        now = 100 + index * 0.001
        assert budget.has_time(inf, now)
        budget.note_sent(now, now + CALL_S)
        assert budget.messages_per_clock_read == 1


def test_sending_takes_a_small_share_of_the_time() -> None:
    budget = SendBudget()
    now, spent_s, calls = 100.0, 0.0, 0
    while now < 101:
        now += 0.000001
        if budget.has_time(APART_S, now):
            budget.note_sent(now, now + CALL_S)
            now += CALL_S
            spent_s += CALL_S
            calls += 1
    assert 0.05 < spent_s < 0.08
    assert calls > 1000, "no message waits long"


def test_a_single_message_is_sent_although_the_budget_is_used_up() -> None:
    budget = SendBudget()
    assert budget.has_time(APART_S, 100.0)
    for _ in range(100):
        budget.note_sent(100.0, 100.001)
    assert not budget.has_time(APART_S, 100.0011)
    assert budget.has_time(APART_S, 100.0015)


def test_one_slow_call_does_not_stop_sending() -> None:
    budget = SendBudget()
    assert budget.has_time(inf, 100.0)
    budget.note_sent(100.0, 105.0)
    assert budget.has_time(inf, 105.0)


def test_the_clock_is_read_less_often_while_messages_come_fast() -> None:
    budget = SendBudget()
    for index in range(20):
        budget.has_time(inf, 100 + index * 0.000001)
    assert budget.messages_per_clock_read == MESSAGES_PER_CLOCK_READ_MAX
    for index in range(20):
        budget.has_time(inf, 101 + index * 0.0001)
    assert budget.messages_per_clock_read == 1
