"""Cancellation tokens call each hook once."""

from __future__ import annotations

import threading

from zenlake.api.cancellation import CancellationToken


def test_cancel_calls_every_hook_once() -> None:
    token = CancellationToken()
    told: list[str] = []
    assert not token.is_cancelled
    token.register(lambda: told.append("a"))
    gone = token.register(lambda: told.append("b"))
    token.register(lambda: told.append("c"))
    assert gone is not None
    token.unregister(gone)
    token.cancel()
    token.cancel()
    assert told == ["a", "c"]
    assert token.is_cancelled


def test_a_cancelled_token_takes_no_hooks() -> None:
    token = CancellationToken()
    token.cancel()
    assert token.register(lambda: None) is None


def test_a_hook_may_use_its_token() -> None:
    token = CancellationToken()
    seen: list[bool] = []
    token.register(lambda: seen.append(token.is_cancelled))
    token.register(token.cancel)
    token.cancel()
    assert seen == [True]


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
