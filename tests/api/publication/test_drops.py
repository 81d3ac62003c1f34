"""Nothing is dropped without being counted where users can see it."""

from __future__ import annotations

import gc

from tests.api.linked import listening, publisher_of, two_sessions
from tests.waiting import until
from zenlake.handlers import FifoChannel, RingChannel


def test_a_ring_counts_what_it_drops() -> None:
    with two_sessions() as (a, b):
        assert a.info.stats()["dropped_items"] == 0
        ring = a.declare_subscriber("k", RingChannel(3))
        fifo = a.declare_subscriber("k", FifoChannel(100))
        publisher = publisher_of(b, "k")
        for number in range(20):
            publisher.put(bytes([number]))
        got = [fifo.recv().payload.to_bytes()[0] for _ in range(20)]
        assert got == list(range(20))
        assert a.info.stats()["dropped_items"] == 17
        assert [ring.recv().payload.to_bytes()[0] for _ in range(3)] == [17, 18, 19]
        assert ring.try_recv() is None
        ring.undeclare()
        assert a.info.stats()["dropped_items"] == 17
        assert b.info.stats()["dropped_items"] == 0


def test_rings_of_all_kinds_of_entities_count() -> None:
    with listening() as session:
        queryable = session.declare_queryable("q", RingChannel(1))
        first, second = session.get("q"), session.get("q")
        assert session.info.stats()["dropped_items"] == 1
        with queryable.recv() as query:
            for number in range(3):
                query.reply(f"q{number}"[:1], bytes([number]))
        gc.collect()  # the query that was dropped is finished all the same
        assert [len(list(replies)) for replies in (first, second)] == [0, 1]
        watcher = session.liveliness().declare_subscriber("t/*", RingChannel(1))
        tokens = [session.liveliness().declare_token(f"t/{number}") for number in range(3)]
        until(lambda: session.info.stats()["dropped_items"] == 3)
        assert str(watcher.recv().key_expr) == "t/2"
        assert len(tokens) == 3


def test_all_counters_of_the_session_are_there() -> None:
    with listening() as session:
        stats = session.info.stats()
        assert [name for name, value in stats.items() if value] == []
        for name in ("late_replies", "leaked_queries", "mismatched_replies", "refused_replies"):
            assert stats[name] == 0
