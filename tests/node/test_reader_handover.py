"""Callbacks on the reader thread of a link do not block the link."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sized

import pytest

import zenlake
from tests.api.linked import publisher_of, two_sessions
from tests.measuring import least
from tests.waiting import PATIENCE_S, holds, until
from zenlake.limits import CALLBACK_HOLD_MS_MAX

HOLD_S = CALLBACK_HOLD_MS_MAX / 1000


@pytest.fixture
def pair() -> Iterator[tuple[zenlake.Session, zenlake.Session]]:
    with two_sessions() as sessions:
        yield sessions


def until_long(items: Sized, count: int) -> None:
    until(lambda: len(items) == count)


def readers() -> set[int | None]:
    return {one.ident for one in threading.enumerate() if one.name.startswith("zenlake read")}


def test_a_quick_callback_runs_on_the_reader(pair: tuple[zenlake.Session, zenlake.Session]) -> None:
    a, b = pair
    threads: list[int] = []
    subscriber = a.declare_subscriber("k", lambda _: threads.append(threading.get_ident()))
    publisher = publisher_of(b, "k")
    for count in range(1, 4):
        publisher.put(b"")
        until_long(threads, count)
    assert set(threads) <= readers()
    subscriber.undeclare()


def test_slow_callback_does_not_block_its_link(
    pair: tuple[zenlake.Session, zenlake.Session],
) -> None:
    a, b = pair
    before = len(readers())
    release = threading.Event()
    slow: list[bytes] = []
    quick: list[float] = []

    def hold(sample: zenlake.Sample) -> None:
        release.wait(PATIENCE_S)
        slow.append(sample.payload.to_bytes())

    a.declare_subscriber("slow", hold)
    a.declare_subscriber("quick", lambda _: quick.append(time.monotonic()))
    publisher, other = publisher_of(b, "slow"), publisher_of(b, "quick")
    publisher.put(b"0")
    time.sleep(2 * HOLD_S)  # for another reader to take over
    for number in range(1, 10):
        publisher.put(b"%d" % number)
    other.put(b"")
    until(lambda: quick)
    assert not slow
    release.set()
    until(lambda: len(slow) == 10)
    assert slow == [b"%d" % number for number in range(10)]
    until(lambda: len(readers()) <= before)  # the old one has ended with its callback


def test_callback_may_query_and_wait(pair: tuple[zenlake.Session, zenlake.Session]) -> None:
    """The answer comes on the link whose reader runs the callback."""
    a, b = pair
    took_s: list[float] = []
    answers: list[bytes] = []

    def ask(_: zenlake.Sample) -> None:
        began = time.monotonic()
        for reply in a.get("question"):
            assert reply.ok is not None
            answers.append(reply.ok.payload.to_bytes())
        took_s.append(time.monotonic() - began)

    def answer(query: zenlake.Query) -> None:
        with query:
            query.reply("question", b"42")

    b.declare_queryable("question", answer)
    a.declare_subscriber("k", ask)
    publisher = publisher_of(b, "k")
    for count in range(1, 11):
        publisher.put(b"")
        until_long(took_s, count)
    assert answers == [b"42"] * 10
    # It need not wait until the watching thread replaces the reader.
    assert min(took_s) < HOLD_S


def test_a_callback_may_close_the_session(pair: tuple[zenlake.Session, zenlake.Session]) -> None:
    a, b = pair
    closed = threading.Event()

    def close(_: zenlake.Sample) -> None:
        a.close()
        closed.set()

    a.declare_subscriber("k", close)
    publisher_of(b, "k").put(b"")
    assert closed.wait(PATIENCE_S)
    assert a.is_closed()
    until(lambda: not b.info.transports())


def test_a_callback_may_undeclare_itself(pair: tuple[zenlake.Session, zenlake.Session]) -> None:
    a, b = pair
    dropped = threading.Event()
    calls: list[bytes] = []
    subscriber: zenlake.Subscriber[None]

    def once(sample: zenlake.Sample) -> None:
        calls.append(sample.payload.to_bytes())
        subscriber.undeclare()
        assert not dropped.is_set()

    subscriber = a.declare_subscriber("k", zenlake.handlers.Callback(once, dropped.set))
    publisher = publisher_of(b, "k")
    publisher.put(b"1")
    assert dropped.wait(PATIENCE_S)
    publisher.put(b"2")
    holds(lambda: calls == [b"1"], 2 * HOLD_S)


def test_a_reply_leaves_with_its_final(pair: tuple[zenlake.Session, zenlake.Session]) -> None:
    a, b = pair

    def answer(query: zenlake.Query) -> None:
        with query:
            query.reply("question", b"42")

    a.declare_queryable("question", answer)
    querier = b.declare_querier("question")
    until(lambda: querier.matching_status.matching)
    batches = a.info.stats()["batches_out"]
    for _ in range(20):
        assert len(list(querier.get())) == 1
    assert a.info.stats()["batches_out"] - batches < 30


def test_a_reply_does_not_wait_for_the_end_of_its_callback(
    pair: tuple[zenlake.Session, zenlake.Session],
) -> None:
    a, b = pair
    release = threading.Event()

    def answer(query: zenlake.Query) -> None:
        with query:
            query.reply("question", b"42")
            release.wait(PATIENCE_S)

    a.declare_queryable("question", answer)
    querier = b.declare_querier("question", consolidation=zenlake.ConsolidationMode.NONE)
    until(lambda: querier.matching_status.matching)
    began = time.monotonic()
    replies = querier.get()
    assert replies.recv().ok is not None
    assert time.monotonic() - began < PATIENCE_S / 2
    assert replies.try_recv() is None
    release.set()
    assert list(replies) == []


def test_a_reader_of_another_node_sends_a_reply_at_once(
    pair: tuple[zenlake.Session, zenlake.Session],
) -> None:
    """A callback of one session answers a query of another session of the same process."""
    a, b = pair
    held: list[zenlake.Query] = []
    a.declare_queryable("question", held.append)
    querier = b.declare_querier("question")
    until(lambda: querier.matching_status.matching)

    def answer(sample: zenlake.Sample) -> None:
        with held.pop() as query:
            query.reply("question", b"42")

    with two_sessions() as (c, d):
        c.declare_subscriber("now", answer)
        publisher = publisher_of(d, "now")

        def measure() -> float:
            replies = querier.get()
            until_long(held, 1)
            began = time.monotonic()
            publisher.put(b"")
            assert len(list(replies)) == 1
            return time.monotonic() - began

        assert least(measure, 0.5) < 0.5
