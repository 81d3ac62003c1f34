"""Callbacks that sleep, raise, use or close the session (limits: Q11)."""

from __future__ import annotations

import logging
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from statistics import median

import pytest

import zenlake
from tests.api.linked import connected, listening, publisher_of, two_sessions
from tests.chance import scaled, seeded
from tests.waiting import PATIENCE_S, until, until_more
from zenlake.handlers import Callback

SAMPLES = scaled(200, 5_000)
RUNS = scaled(50, 1_000)


def test_a_sleeping_callback_does_not_delay_others() -> None:
    with two_sessions() as (a, b):
        arrived: list[float] = []
        a.declare_subscriber("quick", lambda _: arrived.append(time.monotonic()))
        quick = publisher_of(b, "quick")
        alone = median(latencies(quick, arrived))
        is_asleep, may_go_on = threading.Event(), threading.Event()

        def sleep(_: zenlake.Sample) -> None:
            is_asleep.set()
            may_go_on.wait(PATIENCE_S)

        a.declare_subscriber("slow", sleep)
        slow = publisher_of(b, "slow")
        for _ in range(100):
            slow.put(b"")
        assert is_asleep.wait(PATIENCE_S)
        beside = median(latencies(quick, arrived))
        assert not may_go_on.is_set()
        may_go_on.set()
        print(f"{beside * 1000:.2f} ms, {alone * 1000:.2f} ms without a sleeper")
        assert beside < max(0.010, 3 * alone)
        assert a.info.stats()["dropped_items"] == 0


def latencies(publisher: zenlake.Publisher, arrived: list[float]) -> list[float]:
    """The time from `put` to the callback, of one item after the other."""
    took: list[float] = []
    for _ in range(SAMPLES):
        count = len(arrived)
        began = time.monotonic()
        publisher.put(b"")
        until_more(arrived, count)
        took.append(arrived[-1] - began)
        time.sleep(0.002)  # so that the next one finds all threads waiting
    return took


class Mischief:
    """A session whose callback does something different in each run."""

    def __init__(self, session: zenlake.Session, chance: random.Random) -> None:
        self.session = session
        self.calls = 0
        self.done = threading.Event()
        deeds = [self.sleep, self.fail, self.publish, self.ask, self.declare, self.close]
        self.deed: Callable[[], None] = chance.choice(deeds)
        # A query on the thread that reads its answer would wait for ever.
        indirect = self.deed == self.ask or chance.random() < 0.7
        callback = Callback(self.call, indirect=indirect)
        self.subscriber = session.declare_subscriber("k", callback)

    def call(self, _: zenlake.Sample) -> None:
        self.calls += 1
        try:
            self.deed()
        except zenlake.ZError:
            assert self.session.is_closed()
        finally:
            if self.calls == 3 or self.session.is_closed():
                self.done.set()

    def sleep(self) -> None:
        time.sleep(0.02)  # a slow callback

    def fail(self) -> None:
        raise RuntimeError("mine")

    def publish(self) -> None:
        self.session.put("other", b"x", congestion_control=zenlake.CongestionControl.BLOCK)

    def ask(self) -> None:
        assert [reply.ok is not None for reply in self.session.get("q", timeout=10)] == [True]

    def declare(self) -> None:
        self.session.declare_subscriber("other", lambda _: None).undeclare()
        self.session.declare_queryable("more").undeclare()
        self.session.liveliness().declare_token("t").undeclare()

    def close(self) -> None:
        self.session.close()


def test_callbacks_cause_no_deadlock() -> None:
    chance = seeded()
    logging.getLogger("zenlake.handlers").setLevel(logging.CRITICAL)
    try:
        with listening() as other:
            other.declare_queryable("q", answer)
            for run in range(RUNS):
                session = connected(other)
                mischief = Mischief(session, chance)
                publisher = publisher_of(other, "k")
                for _ in range(3):
                    publisher.put(b"")
                name = f"run {run}: {mischief.deed.__name__}"
                assert mischief.done.wait(PATIENCE_S), name
                publisher.undeclare()
                assert closes(session), name
                until(lambda: not other.info.transports())
    finally:
        logging.getLogger("zenlake.handlers").setLevel(logging.NOTSET)


def answer(query: zenlake.Query) -> None:
    with query:
        query.reply("q", b"")


def closes(session: zenlake.Session) -> bool:
    thread = threading.Thread(target=session.close, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    return not thread.is_alive()


_PROGRAM = """
import sys, threading, time
import zenlake
from tests.api.linked import two_sessions, publisher_of
both = two_sessions()
a, b = both.__enter__()
is_asleep = threading.Event()
def sleep(_):
    is_asleep.set()
    time.sleep(30)
a.declare_subscriber("k", zenlake.handlers.Callback(sleep, indirect={indirect}))
publisher_of(b, "k").put(b"")
assert is_asleep.wait(10)
print("ready", flush=True)
"""


@pytest.mark.parametrize("indirect", [True, False])
def test_interpreter_does_not_wait_for_a_sleeping_callback(indirect: bool) -> None:
    took_s = seconds_to_exit(_PROGRAM.format(indirect=indirect))
    print(f"exit after {took_s:.2f} s")
    assert took_s < 5.0  # 0.7 on an idle machine; the callback sleeps for 30


def seconds_to_exit(program: str) -> float:
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            began = time.monotonic()
            assert process.wait(PATIENCE_S) == 0
            return time.monotonic() - began
        finally:
            process.kill()
