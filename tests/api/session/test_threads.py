"""The threads that sessions use."""

from __future__ import annotations

import gc
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import zenlake
from tests.api.linked import connected, listening
from tests.api.memory import MemoryNetwork
from tests.leftovers import nothing_left, own_threads
from tests.sessions import config_of
from tests.waiting import PATIENCE_S, until
from zenlake.node.reader_handover import READER_HANDOVER


@pytest.fixture
def network() -> MemoryNetwork:
    return MemoryNetwork()


def test_concurrent_queryables_leave_no_thread() -> None:
    with nothing_left():
        for _ in range(5):
            with zenlake.open(config_of()) as session, ThreadPoolExecutor(8) as pool:
                before = own_threads()
                list(pool.map(lambda n, s=session: s.declare_queryable(f"q/{n}"), range(32)))
                assert own_threads() <= before


def test_a_lost_query_is_finished_at_once() -> None:
    with zenlake.open(config_of()) as session, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        queryable = session.declare_queryable("q")
        for _ in range(5):
            replies = session.get("q", timeout=60)
            queryable.recv()
            gc.collect()
            began = time.monotonic()
            assert list(replies) == []
            assert time.monotonic() - began < PATIENCE_S


def test_one_thread_watches_the_readers_of_all_nodes() -> None:
    with nothing_left():
        first = listening()
        others = [connected(first, "peer") for _ in range(5)]
        seen: list[object] = []
        for other in others:
            other.declare_subscriber("k", seen.append)
        publisher = first.declare_publisher("k")
        until(lambda: publisher.matching_status.matching)

        def publish() -> bool:
            publisher.put(b"")
            return len(seen) >= 20

        until(publish)
        watchers = [one for one in threading.enumerate() if one.name == "zenlake handover"]
        assert len(watchers) == 1
        # It checks no reader, and soon sleeps, once no callback runs.
        assert not any(node.readers_in_callbacks for node in READER_HANDOVER.nodes)
        until(lambda: not READER_HANDOVER.is_watching)
        for session in (first, *others):
            session.close()


def test_idle_callables_need_no_thread(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    before = callback_threads()
    seen: list[object] = []
    for number in range(1000):
        a.declare_subscriber(f"k/{number}", seen.append)
        a.declare_queryable(f"k/{number}", lambda query: query.drop())
    assert callback_threads() <= before
    for number in range(1000):
        b.put(f"k/{number}", b"")
    until(lambda: len(seen) == 1000)
    assert len(callback_threads()) < 50
    until(lambda: callback_threads() <= before)  # idle threads end


def test_callbacks_that_block_do_not_delay_others(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    release = threading.Event()
    blocked: list[object] = []
    seen: list[float] = []

    def block(sample: zenlake.Sample) -> None:
        blocked.append(sample)
        release.wait(PATIENCE_S)

    for number in range(20):
        a.declare_subscriber(f"slow/{number}", block)
    a.declare_subscriber("quick", lambda _: seen.append(time.monotonic()))
    for number in range(20):
        b.put(f"slow/{number}", b"")
    b.put("quick", b"")
    until(lambda: seen)
    until(lambda: len(blocked) == 20)
    assert not release.is_set()
    release.set()


def test_calls_of_one_subscriber_never_overlap_and_keep_their_order(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    calls: list[list[int]] = [[] for _ in range(20)]
    running = [0] * 20
    overlaps: list[int] = []

    def callback(number: int) -> Callable[[zenlake.Sample], None]:
        def call(sample: zenlake.Sample) -> None:
            running[number] += 1
            if running[number] > 1:
                overlaps.append(number)
            if len(calls[number]) % 50 == 0:
                time.sleep(0.001)  # a callback that is slow at times
            calls[number].append(int(sample.payload.to_string()))
            running[number] -= 1

        return call

    for number in range(20):
        a.declare_subscriber("k", callback(number))

    for count in range(500):
        b.put("k", str(count))
    until(lambda: all(len(one) == 500 for one in calls))
    assert not overlaps
    assert all(one == list(range(500)) for one in calls)


def test_a_callback_may_wait_for_another(network: MemoryNetwork) -> None:
    """Any number of callbacks may wait: each gets a thread."""
    a, b = network.open(), network.open()
    answers: list[int] = []

    def ask(_: zenlake.Sample) -> None:
        answers.append(len(list(a.get("q", timeout=PATIENCE_S))))

    def answer(query: zenlake.Query) -> None:
        with query:
            query.reply("q", b"")

    b.declare_queryable("q", answer)
    for number in range(10):
        a.declare_subscriber(f"k/{number}", ask)
    for number in range(10):
        b.put(f"k/{number}", b"")
    until(lambda: len(answers) == 10)
    assert answers == [1] * 10


def callback_threads() -> set[threading.Thread]:
    return {one for one in own_threads() if one.name == "zenlake-callback"}
