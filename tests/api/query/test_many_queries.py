"""Very many queries, replies and declarations, on real nodes (limits: Q05, Q06, Q08, Q10)."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from functools import partial
from typing import Any

import pytest

import zenlake
from tests.api.linked import connected, listening, node_of, two_sessions
from tests.chance import scaled
from tests.measuring import MIB, least, resident_bytes
from tests.waiting import until, until_more

pytestmark = pytest.mark.usefixtures("host")

QUERIES = scaled(1_000, 10_000)
REPLIES = scaled(5_000, 1_000_000)
ENTITIES = scaled(10_000, 1_000_000)
EVERY: Any = {"consolidation": zenlake.ConsolidationMode.NONE}


@pytest.mark.parametrize("timeout_s", [0.02, 0.2, 1.0])
def test_timeouts_by_the_real_clock(timeout_s: float) -> None:
    """Within 50 ms or 5 %; on a busy machine one of several tries must succeed."""
    with two_sessions() as (a, b):
        queryable = b.declare_queryable("k", lambda query: asked.append(query))
        asked: list[zenlake.Query] = []
        querier = a.declare_querier("k", timeout=timeout_s)
        until(lambda: querier.matching_status.matching)

        def ask() -> float:
            began = time.monotonic()
            (reply,) = querier.get()
            assert reply.err is not None
            assert reply.err.payload.to_bytes() == b"Timeout"
            return time.monotonic() - began

        took_s = least(ask, timeout_s + 0.05)
        assert timeout_s <= took_s < timeout_s + 0.05
        late = discarded(a, b)
        for query in asked:
            query.reply("k", b"late")
            query.drop()
        until(lambda: discarded(a, b) > late)
        queryable.undeclare()


def has_no_queries(session: zenlake.Session) -> bool:
    return not session._handle.core.queries.live


def discarded(*sessions: zenlake.Session) -> int:
    """Replies that came too late, at the node of the requester or of the replier."""
    every = [session.info.stats() for session in sessions]
    return sum(stats["late_responses"] + stats["late_replies"] for stats in every)


@pytest.mark.parametrize("end", ["death", "timeout"])
def test_open_queries_end_with_the_replier_and_leave_nothing(end: str) -> None:
    timeout_s = 60.0 if end == "death" else scaled(1, 10)
    sizes: list[int] = []
    for is_measured in (False, True):
        with two_sessions("client") as (b, a):
            asked: list[zenlake.Query] = []
            b.declare_queryable("k", asked.append)
            if is_measured:
                gc.collect()
                tracemalloc.start()
                sizes.append(tracemalloc.get_traced_memory()[0])
            handlers = [a.get("k", timeout=timeout_s) for _ in range(QUERIES)]
            until_more(asked, QUERIES - 1, 60.0)
            asked_at = time.monotonic()
            if end == "death":
                next(iter(node_of(b).runners.values())).link.close()
            replies = [list(handler) for handler in handlers]
            ended_at = time.monotonic()
            if end == "death":
                assert ended_at - asked_at < timeout_s / 2
                assert not any(replies)
            else:
                assert all(len(each) == 1 and each[0].err is not None for each in replies)
            took_s = ended_at - asked_at
            while asked:
                asked.pop().drop()
            del handlers, replies
            until(partial(has_no_queries, a))
            time.sleep(0.6)  # for the timer, which frees expired queries twice a second
            gc.collect()
            if is_measured:
                now, peak = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                sizes += [now, peak]
    before, after, peak = sizes
    print(f"{QUERIES} ended {took_s:.2f} s after; {before} bytes, at most {peak}, then {after}")
    # Some things are made once, whatever the count: threads, caches.
    assert after - before < 0.05 * (peak - before) + 250_000


def test_a_flood_of_replies_and_a_budget() -> None:
    with two_sessions() as (a, b):
        sent = 0
        flooded = threading.Event()

        def flood(query: zenlake.Query) -> None:
            nonlocal sent
            with query:
                for number in range(REPLIES):
                    query.reply("k", number.to_bytes(8, "big"))
                    sent += 1
            flooded.set()

        b.declare_queryable("k", flood)
        until(lambda: a.declare_querier("k").matching_status.matching)
        before = resident_bytes()
        replies = list(a.get("k", budget=10, timeout=600, **EVERY))
        assert [reply.ok and reply.ok.payload.to_bytes()[-1] for reply in replies] == [*range(10)]
        assert flooded.wait(300)
        until(lambda: discarded(a) > 0)
        grown = resident_bytes() - before
        print(f"{sent} replies, {grown / MIB:.1f} MiB more")
        assert sent == REPLIES
        assert grown < 64 * MIB


def test_memory_does_not_grow_with_ended_declarations() -> None:
    with two_sessions() as (a, b):
        watcher = b.declare_subscriber("**")

        def churn(count: int) -> None:
            for number in range(count // 5):
                key = f"churn/{number % 1000}/x"
                made: list[Any] = [
                    a.declare_subscriber(key, lambda _: None),
                    a.declare_queryable(key, lambda query: query.drop()),
                    a.declare_publisher(key),
                    a.declare_querier(key),
                    a.liveliness().declare_token(key),
                ]
                for one in made:
                    one.undeclare()

        churn(max(5_000, ENTITIES // 10))
        gc.collect()
        before = resident_bytes()
        began = time.monotonic()
        churn(ENTITIES)
        rate = ENTITIES / (time.monotonic() - began)
        gc.collect()
        after = resident_bytes()
        print(f"{rate:.0f} a second, {before / MIB:.1f} MiB, then {after / MIB:.1f} MiB")
        assert after < before * 1.05 + 1 * MIB
        watcher.undeclare()


def test_only_the_neighbour_limits_open_queries_and_replies_an_error() -> None:
    """The limit applies to neighbours, not to the own session; beyond it the reply is an error."""
    asked: list[zenlake.Query] = []
    with (
        listening(limits__routing__queries=6) as b,
        connected(b, limits__routing__queries=2) as a,
    ):
        b.declare_queryable("k", asked.append)
        querier = a.declare_querier("k")
        until(lambda: querier.matching_status.matching)
        replies = [querier.get() for _ in range(8)]
        until_more(asked, 5)
        # Requests come in order; those beyond the limit are answered before any other ends.
        refused = [list(one) for one in replies[6:]]
        for query in asked:
            query.reply("k", b"")
            query.drop()
        answered = [list(one) for one in replies[:6]]
        errors = [[reply.err for reply in each if reply.err] for each in answered + refused]
        texts = [str(error.payload) for each in errors for error in each]
        assert texts == ["Too many open requests: 6"] * 2
        assert errors[:6] == [[]] * 6
