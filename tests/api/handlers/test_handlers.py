"""Channels and callbacks: order, blocking, limits, and the call of `drop`."""

from __future__ import annotations

import gc
import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.waiting import until
from zenlake import ZError, handlers, wire
from zenlake.api.handlers.channels import FifoChannelSink
from zenlake.api.handlers.handler_types import is_background, make_sink
from zenlake.api.publication.sample import make_sample
from zenlake.api.query.query import Query
from zenlake.api.query.reply import make_error, make_ok
from zenlake.handlers import Callback, DefaultHandler, FifoChannel, Handler, RingChannel
from zenlake.limits import HANDLER_BYTES_MAX, HANDLER_ITEMS_MAX
from zenlake.session.incoming_query import IncomingQuery
from zenlake.session.sink import Sink

LONG_S = 20.0


def feed(sink: Sink, *items: Any) -> None:
    """Push an item like the node: `push` under its lock, `after_unlock` outside."""
    for item in items:
        sink.push(item)
    sink.after_unlock()


def finish(sink: Sink) -> None:
    sink.close()
    sink.after_unlock()


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("given", [None, DefaultHandler(), FifoChannel(3), RingChannel(3)])
def test_channel_returns_items_in_order_then_ends(given: object) -> None:
    sink, handler = make_sink(given)
    assert isinstance(handler, Handler)
    assert handler.try_recv() is None
    feed(sink, 1, 2, 3)
    assert handler.try_recv() == 1
    finish(sink)
    assert handler.recv() == 2
    assert list(handler) == [3]
    for read in (handler.try_recv, handler.recv):
        with pytest.raises(ZError, match="channel is empty and closed"):
            read()
    assert list(handler) == []


def test_a_ring_keeps_the_newest() -> None:
    sink, handler = make_sink(RingChannel(2))
    feed(sink, *range(10))
    finish(sink)
    assert list(handler) == [8, 9]
    sink, handler = make_sink(RingChannel(0))
    feed(sink, 1, 2)
    assert handler.try_recv() == 2


@pytest.mark.parametrize("capacity", [0, 1, 3, HANDLER_ITEMS_MAX])
def test_full_fifo_blocks_its_writer(capacity: int) -> None:
    sink, handler = make_sink(FifoChannel(capacity))
    feed(sink, *range(capacity))
    writer = in_thread(lambda: feed(sink, "more"))
    writer.join(0.05)
    assert writer.is_alive()
    assert handler.recv() == (0 if capacity else "more")
    writer.join(LONG_S)
    assert not writer.is_alive()


def test_closing_and_a_lost_reader_release_a_blocked_writer() -> None:
    sink, handler = make_sink(FifoChannel(1))
    writer = in_thread(lambda: feed(sink, 1, 2, 3))
    writer.join(0.02)
    finish(sink)
    writer.join(LONG_S)
    assert not writer.is_alive()
    assert list(handler) == [1, 2, 3]

    sink, handler = make_sink(FifoChannel(1))
    writer = in_thread(lambda: feed(sink, 1, 2, 3))
    writer.join(0.02)
    assert writer.is_alive()
    del handler
    gc.collect()
    writer.join(LONG_S)
    assert not writer.is_alive()
    feed(sink, *range(1000))


def test_several_readers_and_writers_lose_nothing() -> None:
    sink, handler = make_sink(FifoChannel(8))
    got: list[int] = []
    readers = [in_thread(lambda: got.extend(handler)) for _ in range(3)]
    lock = threading.Lock()

    def work(first: int) -> None:
        for number in range(first, 3000, 3):
            with lock:  # as the node's
                sink.push(number)
            sink.after_unlock()

    feeders = [in_thread(partial(work, first)) for first in range(3)]
    for writer in feeders:
        writer.join(LONG_S)
    finish(sink)
    for reader in readers:
        reader.join(LONG_S)
    assert sorted(got) == list(range(3000))


def large(size: int) -> list[object]:
    """An item of each kind with a payload."""
    payload = bytes(size)
    put = wire.Put(payload)
    query = IncomingQuery(
        1, "k", wire.Query(body=wire.QueryBody(wire.Encoding(0), payload)), None, None, None
    )
    session: Any = None
    made = Query(session, query, 1)
    made._is_dropped = True  # nobody waits for it
    return [
        make_sample("k", put, None, None),
        make_sample("k", wire.Put(b"", attachment=payload), None, None),
        make_ok("k", put, None, None, None),
        make_error(payload, None, None, None),
        made,
    ]


@pytest.mark.parametrize("kind", range(5))
def test_a_fifo_is_full_of_bytes_too(kind: int) -> None:
    item = large(HANDLER_BYTES_MAX // 2)[kind]
    sink, handler = make_sink(None)
    feed(sink, item, item)
    writer = in_thread(lambda: feed(sink, item))
    writer.join(0.02)
    assert writer.is_alive()
    assert handler.recv() is item
    writer.join(LONG_S)
    assert not writer.is_alive()


def test_a_fifo_has_room_for_one_item_however_large() -> None:
    item = large(HANDLER_BYTES_MAX + 1)[0]
    sink, handler = make_sink(None)
    for _ in range(3):
        feed(sink, item)
        assert handler.recv() is item


def test_a_ring_drops_the_oldest_to_stay_within_its_bytes() -> None:
    item = large(HANDLER_BYTES_MAX // 2)[0]
    sink, handler = make_sink(RingChannel(100))
    counters: dict[str, int] = {}
    sink.count_in(counters)
    feed(sink, *range(10), item, item)
    assert counters == {}
    feed(sink, item)
    assert counters == {"dropped_items": 11}
    too_large = large(HANDLER_BYTES_MAX + 1)[0]
    feed(sink, too_large)
    finish(sink)
    assert list(handler) == [too_large]
    assert counters == {"dropped_items": 13}


@pytest.mark.parametrize("indirect", [True, False])
def test_the_queue_of_a_callback_is_limited_in_bytes(indirect: bool) -> None:
    item = large(HANDLER_BYTES_MAX // 2)[0]
    release = threading.Event()
    called: list[object] = []

    def call(item: object) -> None:
        called.append(item)
        release.wait(LONG_S)

    sink, _ = make_sink(Callback(call, indirect=indirect))
    in_thread(lambda: feed(sink, item))
    until(lambda: len(called) == 1)
    feed(sink, item)
    feed(sink, item)
    writer = in_thread(lambda: feed(sink, item))
    writer.join(0.02)
    assert writer.is_alive()
    release.set()
    writer.join(LONG_S)
    assert not writer.is_alive()
    until(lambda: len(called) == 4)


def test_recv_waits_for_an_item_and_for_the_end() -> None:
    sink, handler = make_sink(None)
    got: list[object] = []
    reader = in_thread(lambda: got.extend(handler))
    assert isinstance(sink, FifoChannelSink)
    until(lambda: sink._readers)
    feed(sink, "a")
    until(lambda: got == ["a"])
    finish(sink)
    reader.join(LONG_S)
    assert not reader.is_alive()


def test_an_indirect_callback_runs_on_another_thread_in_order_then_drops() -> None:
    calls: list[object] = []
    threads: set[str] = set()

    def call(item: object) -> None:
        threads.add(threading.current_thread().name)
        calls.append(item)

    sink, handler = make_sink(Callback(call, lambda: calls.append("drop")))
    assert handler is None
    feed(sink, *range(1000))
    finish(sink)
    finish(sink)
    until(lambda: len(calls) == 1001)
    assert calls == [*range(1000), "drop"]
    assert threads == {"zenlake-callback"}


def test_callback_without_items_is_dropped_too() -> None:
    dropped = threading.Event()
    sink, _ = make_sink(Callback(print, dropped.set))
    finish(sink)
    assert dropped.wait(LONG_S)


def test_slow_indirect_callback_blocks_its_writer() -> None:
    go, started = threading.Event(), threading.Event()

    def call(_item: object) -> None:
        started.set()
        go.wait(LONG_S)

    sink, _ = make_sink(call)
    feed(sink, 0)
    assert started.wait(LONG_S)
    writer = in_thread(lambda: feed(sink, *range(HANDLER_ITEMS_MAX + 1)))
    writer.join(0.05)
    assert writer.is_alive()
    go.set()
    writer.join(LONG_S)
    assert not writer.is_alive()


def test_writer_waits_no_longer_than_a_link_reader_calls() -> None:
    called: list[int] = []
    has_begun, go = threading.Event(), threading.Event()

    def callback(item: int) -> None:
        called.append(item)
        has_begun.set()
        go.wait(LONG_S)

    sink, _ = make_sink(callback)
    sink.push(0)
    reader = in_thread(sink.run_on_reader)
    assert has_begun.wait(LONG_S)
    writer = in_thread(lambda: feed(sink, *range(1, HANDLER_ITEMS_MAX + 10)))
    writer.join(0.05)
    assert writer.is_alive(), "more items than there is room for"
    go.set()
    reader.join(LONG_S)
    writer.join(LONG_S)
    assert not writer.is_alive()
    until(lambda: called == list(range(HANDLER_ITEMS_MAX + 10)))


@pytest.mark.parametrize("indirect", [True, False])
def test_callback_may_publish_to_itself(indirect: bool) -> None:
    calls: list[int] = []

    def call(depth: int) -> None:
        calls.append(depth)
        if depth < 9:
            feed(sink, depth + 1, depth + 1)

    sink, _ = make_sink(Callback(call, indirect=indirect))
    feed(sink, 0)
    until(lambda: len(calls) == 1023)
    assert calls == sorted(calls)


def test_direct_callback_runs_on_the_writing_thread() -> None:
    calls: list[object] = []

    def call(item: object) -> None:
        calls.append((item, threading.current_thread() is threading.main_thread()))

    sink, handler = make_sink(
        (Callback(call, lambda: calls.append("drop"), indirect=False), "mine")
    )
    assert handler == "mine"
    sink.push(1)
    assert calls == []
    sink.after_unlock()
    assert calls == [(1, True)]
    finish(sink)
    finish(sink)
    assert calls == [(1, True), "drop"]


def test_direct_calls_never_overlap() -> None:
    active = [0]
    overlaps: list[int] = []
    total: list[int] = []

    def call(item: int) -> None:
        active[0] += 1
        overlaps.append(active[0])
        time.sleep(0)  # other threads may run
        active[0] -= 1
        total.append(item)

    sink, _ = make_sink(Callback(call, indirect=False))

    def work() -> None:
        for number in range(500):
            feed(sink, number)

    feeders = [in_thread(work) for _ in range(4)]
    for writer in feeders:
        writer.join(LONG_S)
    until(lambda: len(total) == 2000)
    assert set(overlaps) == {1}


@pytest.mark.parametrize("indirect", [True, False])
def test_exceptions_of_callbacks_are_logged(
    indirect: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def call(item: object) -> None:
        raise RuntimeError(f"bad {item}")

    def drop() -> None:
        raise RuntimeError("bad drop")

    with caplog.at_level(logging.ERROR, "zenlake.handlers"):
        sink, _ = make_sink(Callback(call, drop, indirect=indirect))
        feed(sink, 1, 2)
        finish(sink)
        until(lambda: len(caplog.records) == 3)
    raised = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert raised == ["bad 1", "bad 2", "bad drop"]
    assert {record.message for record in caplog.records} == {"callback error"}


def test_invalid_handlers_are_refused() -> None:
    wrong: list[Any] = [3, "x", (print,), (3, print), [print, 3], object(), (print, 3, 4)]
    for given in wrong:
        with pytest.raises(ValueError, match="Invalid handler type"):
            make_sink(given)
    with pytest.raises(OverflowError):
        FifoChannel(-1)
    with pytest.raises(TypeError):
        RingChannel("x")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError, match="No constructor defined"):
        Handler()
    assert handlers.Callback(len)("abc") == 3


def test_entities_with_callbacks_stay_in_the_background() -> None:
    assert is_background(print)
    assert is_background(Callback(print))
    others: list[object] = [None, (print, 3), FifoChannel(1), RingChannel(1), DefaultHandler()]
    assert not any(map(is_background, others))


PRELUDE = """
import threading, time
from zenlake.api.handlers.handler_types import make_sink
from zenlake.handlers import Callback
began = threading.Event()
sink, handler = make_sink({handler})
"""


def run(code: str, handler: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE.format(handler=handler) + code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_interrupts_recv() -> None:
    # Where the tests run in the background, SIGINT is ignored, and children inherit that.
    default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    waits = """
def report():
    while not sink._readers:
        time.sleep(0.001)
    print("ready", flush=True)
threading.Thread(target=report, daemon=True).start()
handler.recv()"""
    process = run(default + waits, "None")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LONG_S)
    assert "KeyboardInterrupt" in errors


def test_a_busy_callback_does_not_keep_python_alive() -> None:
    busy = "sink.push(1); sink.after_unlock(); began.wait(); print(time.monotonic())"
    process = run(busy, "lambda _: (began.set(), time.sleep(120))")
    out, errors = process.communicate(timeout=3 * LONG_S)  # importing takes long at times
    assert time.monotonic() - float(out) < 60  # the callback sleeps for 120
    assert process.returncode == 0, errors
