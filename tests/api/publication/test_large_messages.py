"""Messages beyond a limit of size: warnings, errors, and what still arrives."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import zenlake
from tests.api.linked import connected, listening, publisher_of
from tests.waiting import until

BLOCK: Any = {"congestion_control": zenlake.CongestionControl.BLOCK}
LOW_LATENCY: Any = {
    "transport__unicast__lowlatency": True,
    "transport__unicast__qos__enabled": False,
}
LIMIT = 200_000


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_message_beyond_max_message_size_is_dropped_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        listening(transport__link__rx__max_message_size=LIMIT) as b,
        connected(b, "peer") as a,
    ):
        subscriber = b.declare_subscriber("big/*")
        publisher = publisher_of(a, "big/one", **BLOCK)
        publisher.put(bytes(LIMIT - 100))
        for _ in range(3):
            publisher.put(bytes(LIMIT))
        publisher.put(b"end")
        assert [len(subscriber.recv().payload) for _ in range(2)] == [LIMIT - 100, 3]
        assert b.info.stats()["unfinished_messages"] == 3
        (text,) = warnings_of(caplog)
        assert "on `big/one` of 2000" in text
        assert f"transport/link/rx/max_message_size is {LIMIT}" in text


def test_reply_beyond_max_message_size_is_dropped_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with listening() as b, connected(b, transport__link__rx__max_message_size=LIMIT) as a:
        b.declare_queryable("q", lambda query: (query.reply("q", bytes(LIMIT)), query.drop()))
        assert list(a.get("q")) == []
        (text,) = warnings_of(caplog)
        assert "on `q` of 2000" in text


def test_message_beyond_the_limit_of_the_process_is_dropped_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        listening(limits__transport__reassembly_process_bytes=LIMIT) as b,
        connected(b, "peer") as a,
    ):
        subscriber = b.declare_subscriber("k")
        publisher = publisher_of(a, "k", **BLOCK)
        publisher.put(bytes(LIMIT))
        publisher.put(b"end")
        assert len(subscriber.recv().payload) == 3
        (text,) = warnings_of(caplog)
        assert f"limits/transport/reassembly_process_bytes is {LIMIT}" in text


def test_sender_gets_an_error_where_its_link_carries_no_fragments(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each way to send a value: put, a publisher's first and later values, reply and get."""
    with listening(**LOW_LATENCY) as b, connected(b, **LOW_LATENCY) as a:
        subscriber = b.declare_subscriber("k")
        own = a.declare_subscriber("k")
        publisher = publisher_of(a, "k")
        with pytest.raises(zenlake.ZError, match=r"on `k` of 7\d{4} bytes cannot be sent"):
            a.put("k", bytes(70_000))
        with pytest.raises(zenlake.ZError, match="cannot be sent"):
            publisher.put(bytes(70_000))
        assert [len(own.recv().payload) for _ in range(2)] == [70_000] * 2, "it needs no link"
        own.undeclare()
        publisher.put(b"1")
        publisher.put(b"2")
        with pytest.raises(zenlake.ZError, match="cannot be sent"):
            publisher.put(bytes(70_000))
        assert [subscriber.recv().payload.to_bytes() for _ in range(2)] == [b"1", b"2"]
        assert subscriber.try_recv() is None

        queryable = b.declare_queryable("q")
        querier = a.declare_querier("q")
        until(lambda: querier.matching_status.matching)
        with pytest.raises(zenlake.ZError, match="cannot be sent"):
            querier.get(payload=bytes(70_000))
        assert not a._handle.core.queries.live
        replies = querier.get()
        with queryable.recv() as query:
            with pytest.raises(zenlake.ZError, match="cannot be sent"):
                query.reply("q", bytes(70_000))
            query.reply("q", b"small")
        assert [len(reply.ok.payload) for reply in replies if reply.ok] == [5]
        assert a.info.stats()["unsendable_messages"] == 4
        texts = warnings_of(caplog)
        assert len(texts) == 2, "one of each node"
        assert all("cannot be sent: a low-latency link carries at most" in text for text in texts)
