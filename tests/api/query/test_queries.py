"""Queries through the API: `get`, `Querier`, `Query` (behaviour reference §2.5, §2.6, §7.2)."""

from __future__ import annotations

import gc
import logging
import threading
import time
import warnings
from typing import Any

import pytest

from tests.api.memory import MemoryNetwork
from tests.measuring import least
from tests.waiting import until
from zenlake import (
    CancellationToken,
    ConsolidationMode,
    Encoding,
    KeyExpr,
    Locality,
    Parameters,
    Priority,
    Query,
    QueryTarget,
    Reply,
    ReplyKeyExpr,
    Sample,
    Selector,
    ZError,
)
from zenlake.api.session.session import Session
from zenlake.handlers import Callback


@pytest.fixture
def pair() -> tuple[Session, Session]:
    network = MemoryNetwork()
    return network.open(), network.open()


def sample_of(reply: Reply) -> Sample:
    assert reply.ok is not None
    return reply.ok


def test_query_has_all_arguments_of_get(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("demo/**", complete=True)
    a.get("demo/x?a=1;b", payload="p", encoding="text/plain", attachment=b"", timeout=1)
    a.get(Selector("demo/y", {"c": "2"}), accept_replies=ReplyKeyExpr.ANY)
    first = queryable.recv()
    assert type(first).__name__ == "Query"
    assert str(first.selector) == "demo/x?a=1;b"
    assert first.key_expr == "demo/x"
    assert first.parameters == Parameters("a=1;b")
    assert first.payload == b"p"
    assert first.encoding == "text/plain"
    assert first.attachment == b""
    assert first.accepts_replies() is ReplyKeyExpr.MATCHING_QUERY
    assert first.source_info is None
    assert str(first) == 'Query { selector: "demo/x?a=1;b" }'
    second = queryable.recv()
    assert (second.payload, second.encoding, second.attachment) == (None, None, None)
    assert second.accepts_replies() is ReplyKeyExpr.ANY
    for query in (first, second):
        query.drop()


def test_payload_or_encoding_alone_sends_the_default_of_the_other(
    pair: tuple[Session, Session],
) -> None:
    a, b = pair
    queryable = b.declare_queryable("k")
    a.get("k", payload="p")
    a.get("k", encoding="text/plain")
    with queryable.recv() as query:
        assert query.payload == b"p"
        assert query.encoding == "zenoh/bytes"
    with queryable.recv() as query:
        assert query.payload == b""
        assert query.encoding == "text/plain"


def test_requester_gets_replies_of_every_kind(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("k/*")
    replies = a.get("k/*", priority=Priority.REAL_TIME)
    stamp = b.new_timestamp()
    with queryable.recv() as query:
        query.reply("k/1", "one", encoding="text/plain", timestamp=stamp, attachment="at")
        query.reply_del("k/2")
        query.reply_err("no", encoding=Encoding.TEXT_PLAIN)
        with pytest.raises(ZError, match=r"^Attempted to reply on `z`, which does not intersect"):
            query.reply("z", b"")
    error, one, two = replies
    assert {type(reply) for reply in (error, one, two)} == {Reply}
    assert error.ok is None
    assert error.err is error.result
    assert error.err is not None
    assert error.err.payload == b"no"
    assert error.err.encoding == "text/plain"
    assert error.replier_id is not None
    assert error.replier_id.eid == queryable.id.eid
    assert error.replier_id.zid == b.zid()
    assert one.err is None
    put, deleted = sample_of(one), sample_of(two)
    assert (str(put.key_expr), put.payload.to_bytes()) == ("k/1", b"one")
    assert put.timestamp == stamp
    assert put.attachment == b"at"
    assert (put.priority, put.express) == (Priority.REAL_TIME, False)
    assert str(deleted.kind) == "SampleKind.DELETE"


def test_express_can_be_set_on_a_reply(pair: tuple[Session, Session]) -> None:
    """Within the session only: other nodes set the QoS of replies to that of the request (§4.5)."""
    a, _ = pair
    a.declare_queryable("k", lambda query: (query.reply("k", b"", express=True), query.drop()))
    (reply,) = a.get("k")
    assert sample_of(reply).express


def test_dropped_query_refuses_every_access(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("k")
    replies = a.get("k")
    query: Query = queryable.recv()
    assert replies.try_recv() is None
    with query:
        pass
    query.drop()
    for name in ("selector", "key_expr", "parameters", "payload", "encoding", "attachment"):
        with pytest.raises(ZError, match=r"^Dropped query$"):
            getattr(query, name)
    with pytest.raises(ZError, match=r"^Dropped query$"):
        query.reply("k", b"")
    with pytest.raises(ZError, match=r"^Dropped query$"):
        query.reply_err(b"")
    with pytest.raises(ZError, match=r"^Dropped query$"):
        str(query)
    with pytest.raises(ZError, match=r"^channel is empty and closed$"):
        replies.try_recv()


def test_leaked_query_is_finished_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    network = MemoryNetwork()
    a, b = network.open(), network.open()
    queryable = b.declare_queryable("k")

    leaks = 0

    def leak() -> float:
        nonlocal leaks
        leaks += 1
        replies = a.get("k")
        query = queryable.recv()
        query.reply("k", b"1")
        del query
        gc.collect()  # which takes a second where many tests have run before
        began = time.monotonic()
        assert [sample_of(reply).payload for reply in replies] == [b"1"]
        return time.monotonic() - began

    with caplog.at_level(logging.WARNING), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        leak()
        took_s = least(leak, 0.3)
        # The warning may come after the final that it is about.
        until(lambda: caught and caplog.records)
        queryable.undeclare()
    assert [one.category for one in caught] == [ResourceWarning] * 2
    assert took_s < 0.3, "it waited for a timer"
    assert caplog.text.count("lost without drop") == 2
    assert f"{leaks} queries of the queryable on `k` were lost without drop()" in caplog.text


def test_timeout_is_one_error() -> None:
    network = MemoryNetwork()
    a, b = network.open(), network.open()
    queryable = b.declare_queryable("k")
    replies = a.get("k", timeout=0.5)
    query = queryable.recv()
    network.tick(0.4)
    assert replies.try_recv() is None
    network.tick(0.6)
    # The hop in between times out too, as behaviour reference §4.5 says; it may come first.
    errors = [reply.err for reply in replies if reply.err is not None]
    assert {(str(error.payload), error.timestamp_stack) for error in errors} == {("Timeout", None)}
    query.drop()


def test_no_match_ends_at_once(pair: tuple[Session, Session]) -> None:
    a, _ = pair
    assert list(a.get("nobody")) == []
    assert list(a.get("nobody", timeout=0)) == []
    assert list(a.get("nobody", allowed_destination=Locality.SESSION_LOCAL)) == []


def answering(query: Query) -> None:
    with query:
        for number in range(5):
            query.reply(query.key_expr, str(number))


@pytest.mark.parametrize(
    ("mode", "count"),
    [
        (None, 1),
        (ConsolidationMode.AUTO, 1),
        (ConsolidationMode.LATEST, 1),
        (ConsolidationMode.MONOTONIC, 5),
        (ConsolidationMode.NONE, 5),
    ],
)
def test_consolidation_decides_how_many_replies_arrive(
    pair: tuple[Session, Session], mode: ConsolidationMode | None, count: int
) -> None:
    a, b = pair
    b.declare_queryable("k", answering)
    replies = list(a.get("k", consolidation=mode))
    assert len(replies) == count
    assert sample_of(replies[-1]).payload == b"4"


def test_query_ends_after_the_replies_of_its_budget(pair: tuple[Session, Session]) -> None:
    a, b = pair
    b.declare_queryable("k", answering)
    replies = list(a.get("k", consolidation=ConsolidationMode.NONE, budget=3))
    assert [sample_of(reply).payload.to_string() for reply in replies] == ["0", "1", "2"]


def test_querier_has_the_options_it_was_declared_with(pair: tuple[Session, Session]) -> None:
    a, b = pair
    querier = a.declare_querier("k/*", target=QueryTarget.ALL, timeout=5)
    assert querier.key_expr == KeyExpr("k/*")
    assert querier.accept_replies is ReplyKeyExpr.MATCHING_QUERY
    assert not querier.matching_status
    listener = querier.declare_matching_listener()
    queryable = b.declare_queryable("k/**")
    assert listener.recv().matching
    replies = querier.get(parameters={"x": "1"}, payload=b"p")
    with queryable.recv() as query:
        assert str(query.selector) == "k/*?x=1"
        assert query.payload == b"p"
        query.reply("k/1", b"")
    assert len(list(replies)) == 1
    pending = querier.get()
    querier.undeclare()
    assert list(pending) == []
    with pytest.raises(ZError, match=r"^Undeclared querier$"):
        querier.get()
    queryable.recv().drop()


def test_cancelled_query_gets_no_replies(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("k")
    token = CancellationToken()
    replies = a.get("k", cancellation_token=token)
    alive = a.liveliness().get("t", cancellation_token=token)
    assert list(alive) == []
    token.cancel()
    assert list(replies) == []
    with pytest.raises(ZError, match=r"^Query was cancelled$"):
        a.get("k", cancellation_token=token)
    queryable.recv().drop()


def test_cancelling_waits_for_a_running_callback(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("k")
    token, running, release = CancellationToken(), threading.Event(), threading.Event()

    def slow(_: object) -> None:
        running.set()
        release.wait(5)

    none = ConsolidationMode.NONE
    a.get("k", Callback(slow, indirect=False), consolidation=none, cancellation_token=token)
    query = queryable.recv()
    thread = threading.Thread(target=query.reply, args=("k", b""))
    thread.start()
    assert running.wait(5)
    cancelling = threading.Thread(target=token.cancel)
    cancelling.start()
    cancelling.join(0.05)
    assert cancelling.is_alive()
    release.set()
    cancelling.join(5)
    assert not cancelling.is_alive()
    thread.join()
    query.drop()


def test_callback_may_cancel_its_own_query(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("k")
    token, seen = CancellationToken(), []

    def cancel(reply: Reply) -> None:
        seen.append(reply)
        token.cancel()

    none = ConsolidationMode.NONE
    a.get("k", Callback(cancel, indirect=False), consolidation=none, cancellation_token=token)
    with queryable.recv() as query:
        query.reply("k", b"1")
        query.reply("k", b"2")
    assert len(seen) == 1


def test_token_forgets_queries_that_ended(pair: tuple[Session, Session]) -> None:
    a, _ = pair
    token = CancellationToken()
    for _ in range(10):
        assert list(a.get("nobody", cancellation_token=token)) == []
    assert token._hooks == {}


def test_closing_ends_queries_silently(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("k")
    replies = a.get("k")
    query = queryable.recv()
    a.close()
    assert list(replies) == []
    query.reply("k", b"")
    query.drop()
    b.close()
    with pytest.raises(ZError):
        queryable.recv()


def test_get_returns_the_handler_of_a_callback(pair: tuple[Session, Session]) -> None:
    a, b = pair
    b.declare_queryable("k", answering)
    seen: list[Any] = []
    assert a.get("k", seen.append) is None
    assert a.get("k", (seen.append, "mine")) == "mine"
    until(lambda: len(seen) == 2)


def test_reply_after_close_of_the_replier_is_an_error(pair: tuple[Session, Session]) -> None:
    a, b = pair
    queryable = b.declare_queryable("k")
    replies = a.get("k")
    query = queryable.recv()
    b.close()
    with pytest.raises(ZError, match=r"^session closed$"):
        query.reply("k", b"")
    query.drop()
    assert list(replies) == []
