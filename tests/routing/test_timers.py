from __future__ import annotations

from zenlake.routing.timers import Deadline, Timers


def test_timers_are_due_in_order_and_once() -> None:
    timers = Timers()
    late, soon, never = Deadline(3.0), Deadline(1.0), Deadline(2.0)
    for timer in (late, soon, never):
        timers.start(timer)
    timers.cancel(never)
    timers.cancel(never)
    assert len(timers) == 2
    assert timers.next_deadline() == 1.0
    assert timers.pop_due(0.5, 9) == []
    assert timers.pop_due(5.0, 1) == [soon]
    assert timers.next_deadline() == 3.0
    assert timers.pop_due(5.0, 9) == [late]
    assert timers.pop_due(5.0, 9) == []
    assert timers.next_deadline() is None


def test_cancelled_timers_do_not_accumulate() -> None:
    timers = Timers()
    timers.start(Deadline(1e9))
    for n in range(100_000):
        timer = Deadline(1e6 + n)
        timers.start(timer)
        timers.cancel(timer)
    assert len(timers) == 1
    assert len(timers._heap) < 2_000
