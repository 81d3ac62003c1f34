"""Objects that are garbage collected, and callbacks (behaviour reference §2.14)."""

from __future__ import annotations

import gc
import logging
import threading
import time
import warnings

import pytest

from tests.api.memory import MemoryNetwork
from tests.waiting import until
from zenlake import Query, Sample, ZError
from zenlake.api.session.session import Session
from zenlake.handlers import Callback, RingChannel


@pytest.fixture
def network() -> MemoryNetwork:
    return MemoryNetwork()


def test_lost_objects_are_undeclared(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    publisher = b.declare_publisher("k")
    subscriber = a.declare_subscriber("k", RingChannel(3))
    assert publisher.matching_status
    del subscriber
    gc.collect()
    network.tick()
    assert not publisher.matching_status
    querier = b.declare_querier("k")
    queryable = a.declare_queryable("k")
    assert querier.matching_status
    del queryable
    gc.collect()
    a.put("other", b"")  # any operation finds it, not only the timer
    assert not querier.matching_status
    watcher = b.liveliness().declare_subscriber("t")
    token = a.liveliness().declare_token("t")
    del token
    gc.collect()
    network.tick()
    assert [str(sample.kind) for sample in (watcher.recv(), watcher.recv())] == [
        "SampleKind.PUT",
        "SampleKind.DELETE",
    ]


def test_callables_stay_in_the_background(network: MemoryNetwork) -> None:
    session = network.open()
    seen: list[Sample] = []
    dropped = threading.Event()
    session.declare_subscriber("k", seen.append)
    session.declare_subscriber("k", Callback(seen.append, dropped.set))
    gc.collect()
    network.tick()
    session.put("k", b"")
    until(lambda: len(seen) == 2)
    session.close()
    assert dropped.wait(5)


def test_lost_session_closes(network: MemoryNetwork) -> None:
    session = network.open()
    subscriber = session.declare_subscriber("k")
    core = session._handle.core
    del session
    gc.collect()
    until(lambda: core.is_closed)
    with pytest.raises(ZError, match=r"^channel is empty and closed$"):
        subscriber.recv()


def test_finalizer_under_the_lock_does_not_deadlock(network: MemoryNetwork) -> None:
    """The collector may run while an operation holds the lock."""
    a, b = network.open(), network.open()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(50):
            queryable = b.declare_queryable("k")
            replies = a.get("k")
            query = queryable.recv()
            network.begin()
            del query, queryable, replies
            gc.collect()
            network.end()
            until(lambda: core_queries(a) == 0)
        until(lambda: len(caught) == 50)
    assert {one.category for one in caught} == {ResourceWarning}


def core_queries(session: Session) -> int:
    return len(session._handle.core.queries.live)


def test_raising_callback_is_logged_and_goes_on(
    network: MemoryNetwork, caplog: pytest.LogCaptureFixture
) -> None:
    session = network.open()
    seen: list[int] = []

    def raising(sample: Sample) -> None:
        seen.append(len(sample.payload))
        raise RuntimeError("mine")

    with caplog.at_level(logging.ERROR):
        session.declare_subscriber("k", raising)
        session.put("k", b"1")
        session.put("k", b"22")
        until(lambda: seen == [1, 2])
        until(lambda: caplog.text.count("mine") >= 2)


@pytest.mark.parametrize("indirect", [True, False])
def test_callback_may_use_and_close_the_session(network: MemoryNetwork, indirect: bool) -> None:
    """Q11, the parts that need no network: re-entering, declaring, asking, closing."""
    for _ in range(50):
        session = network.open()
        done = threading.Event()

        def reenter(
            sample: Sample, session: Session = session, done: threading.Event = done
        ) -> None:
            if str(sample.payload) == "first":
                session.declare_subscriber("other", lambda _: None)
                session.declare_queryable("q", lambda query: query.drop())
                list(session.get("q", timeout=1))
                session.put("k", "second")
            else:
                session.close()
                done.set()

        session.declare_subscriber("k", Callback(reenter, indirect=indirect))
        session.put("k", "first")
        assert done.wait(5)
        assert session.is_closed()


def test_slow_callback_does_not_delay_others(network: MemoryNetwork) -> None:
    session = network.open()
    release = threading.Event()
    session.declare_subscriber("slow", lambda _: release.wait(10))
    fast = session.declare_subscriber("fast")
    session.put("slow", b"")
    times = []
    for _ in range(200):
        began = time.perf_counter()
        session.put("slow", b"")
        session.put("fast", b"")
        fast.recv()
        times.append(time.perf_counter() - began)
    release.set()
    assert sorted(times)[-3] < 0.01


def test_queries_answered_from_many_threads(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()

    def answer(query: Query) -> None:
        with query:
            query.reply("k", b"x")

    def answering(query: Query) -> None:
        threading.Thread(target=answer, args=(query,)).start()

    b.declare_queryable("k", answering)
    results: list[int] = []

    def ask() -> None:
        for _ in range(25):
            results.append(len(list(a.get("k"))))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert results == [1] * 100
