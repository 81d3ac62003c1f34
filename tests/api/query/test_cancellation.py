"""Cancelling waits for running callbacks, and no callback follows."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import zenlake
from tests.api.memory import MemoryNetwork
from tests.waiting import PATIENCE_S, holds, until
from zenlake.api.query.cancellation_token import CancellationToken
from zenlake.api.session.session import Session


def test_cancel_calls_every_registered_hook() -> None:
    token = CancellationToken()
    called: list[str] = []
    assert not token.is_cancelled
    token.register(lambda: called.append("a"))
    gone = token.register(lambda: called.append("b"))
    token.register(lambda: called.append("c"))
    assert gone is not None
    token.unregister(gone)
    token.cancel()
    assert called == ["a", "c"]
    assert token.is_cancelled


def test_a_cancelled_token_accepts_no_hooks() -> None:
    token = CancellationToken()
    token.cancel()
    assert token.register(lambda: None) is None


def test_a_hook_may_use_its_token() -> None:
    token = CancellationToken()
    seen: list[bool] = []
    token.register(lambda: seen.append(token.is_cancelled))
    token.register(lambda: token.cancel() if len(seen) < 2 else None)
    token.cancel()
    assert seen == [True, True]


def test_many_threads_register_and_one_cancels() -> None:
    token = CancellationToken()
    count = [0]
    lock = threading.Lock()
    refused: list[object] = []

    def hook() -> None:
        with lock:
            count[0] += 1

    def work() -> None:
        for _ in range(200):
            if token.register(hook) is None:
                with lock:
                    refused.append(None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    token.cancel()
    for thread in threads:
        thread.join()
    assert count[0] + len(refused) == 800


class SlowCallback:
    """A callback that runs until it is released, and what was called."""

    def __init__(self) -> None:
        self.calls: list[zenlake.Reply] = []
        self.returned = 0
        self.started = threading.Event()
        self.release = threading.Event()
        self.dropped = threading.Event()

    def __call__(self, reply: zenlake.Reply) -> None:
        self.calls.append(reply)
        self.started.set()
        self.release.wait(PATIENCE_S)
        self.returned += 1

    def handler(self, indirect: bool) -> zenlake.handlers.Callback[zenlake.Reply]:
        return zenlake.handlers.Callback(self, self.dropped.set, indirect=indirect)


@pytest.fixture
def network() -> MemoryNetwork:
    return MemoryNetwork()


REPLIES = 5
NO_CONSOLIDATION = zenlake.ConsolidationMode.NONE


def answer(query: zenlake.Query, is_final: bool) -> None:
    for number in range(REPLIES):
        query.reply(f"q/{number}", b"")
    if is_final:
        query.drop()


def ask(session: Session, way: str, handler: Any, token: CancellationToken) -> Any:
    if way == "querier":
        querier = session.declare_querier("q/*", consolidation=NO_CONSOLIDATION)
        KEPT.append(querier)
        return querier.get(handler, cancellation_token=token)
    if way == "liveliness":
        return session.liveliness().get("q/*", handler, cancellation_token=token)
    return session.get(
        "q/*", handler, consolidation=NO_CONSOLIDATION, cancellation_token=token, timeout=60
    )


KEPT: list[object] = []


@pytest.mark.parametrize("is_final", [False, True])
@pytest.mark.parametrize("indirect", [True, False])
@pytest.mark.parametrize("way", ["get", "querier", "liveliness"])
def test_cancel_waits_for_the_running_callback_and_none_follows(
    network: MemoryNetwork, way: str, indirect: bool, is_final: bool
) -> None:
    a, b = network.open(), network.open()
    queryable = b.declare_queryable("q/*", complete=True)
    tokens = [b.liveliness().declare_token(f"q/{number}") for number in range(REPLIES)]
    token = CancellationToken()
    callback = SlowCallback()
    asking = threading.Thread(target=ask, args=(a, way, callback.handler(indirect), token))
    asking.start()
    answering = threading.Thread(target=lambda: answer(queryable.recv(), is_final))
    if way != "liveliness":
        answering.start()
    assert callback.started.wait(PATIENCE_S)
    returned: list[int] = []

    def cancel() -> None:
        token.cancel()
        returned.append(callback.returned)

    cancelling = [threading.Thread(target=cancel) for _ in range(2)]
    for thread in cancelling:
        thread.start()
    holds(lambda: not returned, 0.05)
    callback.release.set()
    for thread in cancelling:
        thread.join(PATIENCE_S)
    assert returned == [1, 1]
    assert len(callback.calls) == 1
    assert callback.dropped.wait(PATIENCE_S)
    holds(lambda: len(callback.calls) == 1, 0.02)
    asking.join(PATIENCE_S)
    assert len(tokens) == REPLIES


def test_a_callback_may_cancel_its_own_query(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    queryable = b.declare_queryable("q/*")
    for indirect in (True, False):
        token = CancellationToken()
        calls: list[object] = []
        dropped = threading.Event()

        def cancel(
            reply: zenlake.Reply, token: CancellationToken = token, calls: list[object] = calls
        ) -> None:
            calls.append(reply)
            token.cancel()

        def drop(token: CancellationToken = token, dropped: threading.Event = dropped) -> None:
            token.cancel()
            dropped.set()

        ask(a, "get", zenlake.handlers.Callback(cancel, drop, indirect=indirect), token)
        query = queryable.recv()
        threading.Thread(target=answer, args=(query, True)).start()
        assert dropped.wait(PATIENCE_S)
        assert len(calls) == 1


def test_cancel_frees_a_link_that_waits_for_room(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    queryable = b.declare_queryable("q/*")
    token = CancellationToken()
    replies = ask(a, "get", zenlake.handlers.FifoChannel(1), token)
    answering = threading.Thread(target=lambda: answer(queryable.recv(), False))
    answering.start()
    answering.join(0.05)
    assert answering.is_alive()
    token.cancel()
    assert replies.try_recv() is not None  # items in the channel can still be read
    assert len(list(replies)) < REPLIES
    answering.join(PATIENCE_S)
    assert not answering.is_alive()


def test_finished_queries_are_unregistered(network: MemoryNetwork) -> None:
    a, b = network.open(), network.open()
    queryable = b.declare_queryable("q/*")
    token = CancellationToken()
    for handler in (None, lambda _: None, zenlake.handlers.Callback(print, indirect=False)):
        ask(a, "get", handler, token)
        queryable.recv().drop()
    until(lambda: not token._hooks)
