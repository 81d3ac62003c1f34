"""How messages are sent on a link: at once, gathered, dropped, or after waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.links.memory_link import memory_pair
from tests.measuring import least
from zenlake.limits import UNSENT_PROCESS_BYTES_MAX
from zenlake.links import Link
from zenlake.node.abstract_sender import DROPPED, FULL, TAKEN
from zenlake.node.drop_warnings import DropWarnings
from zenlake.node.link_outlet import LinkOutlet
from zenlake.node.node_lock import NodeLock
from zenlake.node.queue_budget import QueueBudget
from zenlake.node.sender import Sender
from zenlake.node.settings import NodeSettings
from zenlake.protocol.offer import Agreed
from zenlake.protocol.transport import Transport
from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.outlet import LastRefusal
from zenlake.routing.settings import RoutingSettings
from zenlake.wire import CloseReason, CongestionControl, Push, Put, QoS, WhatAmI, WireExpr, ZenohId
from zenlake.wire.push_run import Portion

BATCH = 1000
DATA = 5
BLOCK = QoS.of(congestion=CongestionControl.BLOCK).byte
BLOCK_FIRST = QoS.of(congestion=CongestionControl.BLOCK_FIRST).byte
EXPRESS = QoS.of(express=True).byte


class Bench:
    """A sender on a link that counts, and the other end of it.

    The link is not closed while its reader is delayed.
    """

    def __init__(self, room_bytes: int = 1 << 20, wait_before_close_s: float = 60) -> None:
        self.link, self.other = memory_pair(room_bytes=room_bytes)
        self.sends = 0
        self.failures: list[str] = []
        agreed = Agreed(ZenohId(b"\1"), WhatAmI.PEER, batch_size=BATCH)
        self.transport = Transport(agreed, time.monotonic(), True)
        settings = NodeSettings()
        settings.wait_before_close_s = wait_before_close_s
        self.queues = QueueBudget(1_000_000)
        self.node_lock = NodeLock(Dispatcher(ZenohId(b"\1"), WhatAmI.ROUTER, RoutingSettings()))
        self.sender = Sender(
            self.transport,
            Counting(self),
            settings,
            self.queues,
            self.failures.append,
            DropWarnings(),
            self.node_lock.activity.unflushed_senders,
        )

    def push(self, size: int, qos: int = DATA) -> int:
        message = bytes(Push(WireExpr(0, "k"), Put(bytes(size))))
        outcome = self.sender.push(message, qos, True)
        if outcome != DROPPED:
            self.sender.after_unlock(qos & 7 if outcome == FULL else -1, qos & 0x08 != 0)
        return outcome

    def send(self, payload: bytes, qos: int = DATA) -> None:
        """Send like a publisher with a single destination."""
        self.sender.send(bytes(Push(WireExpr(0, "k"), Put(payload))), qos, True)

    def receive_payloads(self, count: int) -> list[bytes]:
        """The payloads of the first messages received at the other end."""
        agreed = Agreed(ZenohId(b"\2"), WhatAmI.PEER, batch_size=BATCH)
        inbound = Transport(agreed, time.monotonic(), True)
        payloads: list[bytes] = []
        while len(payloads) < count:
            data = self.other.receive(5.0)
            assert data, f"{len(payloads)} of {count} messages before the link ended"
            for delivery in inbound.receive(data, time.monotonic()):
                for message in delivery.messages:
                    assert isinstance(message, Push)
                    assert isinstance(message.body, Put)
                    payloads.append(message.body.payload)
        return payloads


class Counting(Link):
    is_stream = True

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.dst = "memory/other"

    def try_send(self, data: bytes) -> int:
        self.bench.sends += 1
        return self.bench.link.try_send(data)

    def wait_writable(self, timeout_s: float) -> bool:
        return self.bench.link.wait_writable(timeout_s)


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    finish(bench)


@pytest.fixture
def narrow() -> Iterator[Bench]:
    bench = Bench(room_bytes=500, wait_before_close_s=0.2)
    yield bench
    finish(bench)


def finish(bench: Bench) -> None:
    bench.sender.stop()
    bench.link.close()
    bench.sender.join(1.0)


def test_a_message_alone_leaves_at_once(bench: Bench) -> None:
    for _ in range(50):
        before = bench.sends
        bench.push(20)
        assert bench.sends == before + 1
        time.sleep(0.0002)  # so that the messages do not come fast


def test_fast_messages_gather_and_all_leave() -> None:
    """A delayed thread does not send fast: the best of several tries counts."""
    assert least(sends_of_fast_messages, 2500) < 2500


def sends_of_fast_messages() -> int:
    bench = Bench()
    for _ in range(5000):
        bench.push(20)
    assert len(bench.receive_payloads(5000)) == 5000
    finish(bench)
    return bench.sends


def test_messages_do_not_gather_if_no_more_follow() -> None:
    """A thread that watches gathered messages would wake in vain."""
    # Enough messages that sending each at once would exceed the time budget on any machine.
    count = 10_000
    for is_last in (False, True):
        bench = Bench()
        for _ in range(count):
            bench.sender.push(bytes(Push(WireExpr(0, "k"), Put(b"x"))), DATA, True)
            bench.sender.after_unlock(-1, False, is_last)
        names = [thread.name for thread in threading.enumerate()]
        assert ("zenlake send memory/other" in names) is not is_last
        assert (bench.sends == count) is is_last
        finish(bench)


def test_no_thread_watches_messages_that_a_reader_will_flush() -> None:
    bench = Bench()
    for _ in range(1000):
        bench.sender.push(bytes(Push(WireExpr(0, "k"), Put(b"x"))), DATA, True)
        bench.sender.after_unlock(-1, False, False, True)
    names = [thread.name for thread in threading.enumerate()]
    assert "zenlake send memory/other" not in names
    assert bench.sends < 1000
    node_lock = bench.node_lock
    node_lock.begin_bulk()
    node_lock.pause_bulk()  # sent by the reader, after a while at the latest
    node_lock.end_bulk()
    assert len(bench.receive_payloads(1000)) == 1000
    finish(bench)


def test_express_does_not_gather(bench: Bench) -> None:
    for _ in range(100):
        before = bench.sends
        bench.push(20, EXPRESS)
        assert bench.sends > before


def test_a_full_link_drops_droppable_messages_after_a_moment(narrow: Bench) -> None:
    outcomes = []
    slow = 0
    for _ in range(40):
        began = time.monotonic()
        outcomes.append(narrow.push(300))
        slow += time.monotonic() - began > 0.0009
    assert outcomes[0] == TAKEN
    assert FULL in outcomes
    assert slow < 20, "only the first waits; the others are dropped at once"
    assert narrow.sender.dropped == outcomes.count(DROPPED) > 25
    assert not narrow.failures
    while narrow.transport.total_queued_bytes():
        narrow.other.receive(1.0)
    assert narrow.push(300) == TAKEN, "there is room again"


def test_undroppable_messages_wait_and_then_the_link_fails(narrow: Bench) -> None:
    began = time.monotonic()
    while not narrow.failures:
        assert narrow.push(300, BLOCK) != DROPPED
    assert time.monotonic() - began > 0.15
    assert narrow.sender.dropped == 0


def test_a_large_message_may_take_longer_than_the_wait_before_close() -> None:
    """The wait is for a link that accepts nothing, not for a slow one."""
    bench = Bench(room_bytes=20_000, wait_before_close_s=1.0)
    size = 1_200_000
    reader = threading.Thread(target=read_slowly, args=(bench, size), daemon=True)
    reader.start()
    began = time.monotonic()
    bench.push(size, BLOCK)
    assert time.monotonic() - began > 1.2
    reader.join(10.0)
    assert not reader.is_alive()
    assert bench.failures == []
    finish(bench)


def read_slowly(bench: Bench, size: int) -> None:
    """The link accepts at most 20,000 bytes in 30 ms."""
    left = size
    while left > 0:
        left -= len(bench.other.receive(5.0))
        time.sleep(0.03)  # limits the rate of this reader


def test_one_message_of_block_first_waits_and_delays_no_sender() -> None:
    narrow = Bench(room_bytes=500)
    while narrow.push(300) != DROPPED:
        pass
    dropped = narrow.sender.dropped
    began = time.monotonic()
    assert narrow.push(300, BLOCK_FIRST) == FULL
    assert narrow.push(300, BLOCK_FIRST) == DROPPED
    assert narrow.push(300) == DROPPED
    assert time.monotonic() - began < 30
    assert narrow.sender.dropped == dropped + 2
    finish(narrow)


def test_messages_of_one_thread_arrive_in_order_whatever_their_size(bench: Bench) -> None:
    sizes = [8] * 50 + [BATCH // 2] + [8] * 50 + [3 * BATCH] + [3000] + [8] * 5
    sent = [index.to_bytes(4, "big") + bytes(sizes[index % len(sizes)]) for index in range(2000)]
    reader = ThreadPoolExecutor(1)
    received = reader.submit(bench.receive_payloads, len(sent))
    for payload in sent:
        bench.send(payload, BLOCK)
    assert received.result(20) == sent
    reader.shutdown()


def test_pushed_messages_do_not_overtake_sent_ones(bench: Bench) -> None:
    sent = [index.to_bytes(4, "big") for index in range(1000)]
    for index, payload in enumerate(sent):
        if index % 7:
            bench.send(payload)
        else:
            bench.sender.push(bytes(Push(WireExpr(0, "k"), Put(payload))), DATA, True)
            bench.sender.after_unlock(-1, False)
    assert bench.receive_payloads(len(sent)) == sent


def test_many_senders_lose_nothing_and_keep_their_order() -> None:
    bench = Bench(room_bytes=20_000)
    count, threads = 3000, 4

    def send_all(number: int) -> None:
        for index in range(count):
            bench.send(bytes([number]) + index.to_bytes(4, "big"), BLOCK)

    with ThreadPoolExecutor(threads + 1) as pool:
        received = pool.submit(bench.receive_payloads, count * threads)
        for done in [pool.submit(send_all, number) for number in range(threads)]:
            done.result(20)
        payloads = received.result(20)
    for number in range(threads):
        own = [int.from_bytes(one[1:], "big") for one in payloads if one[0] == number]
        assert own == list(range(count))
    assert not bench.failures
    finish(bench)


def test_messages_sent_fast_leave_soon_though_no_more_follow(bench: Bench) -> None:
    for _ in range(20):
        for _ in range(500):
            bench.send(bytes(8))
        assert len(bench.receive_payloads(500)) == 500


def test_messages_sent_before_close_leave_before_it(bench: Bench) -> None:
    for _ in range(1000):
        bench.send(bytes(8))
    bench.sender.send_close(CloseReason.GENERIC, 1.0)
    assert len(bench.receive_payloads(1000)) == 1000
    bench.send(bytes(8))
    assert bench.transport.outbound.dropped_messages == 1


def test_senders_wait_when_the_link_is_full(narrow: Bench) -> None:
    began = time.monotonic()
    while not narrow.failures:
        narrow.send(bytes(8), BLOCK)
    assert time.monotonic() - began > 0.15
    assert narrow.transport.queued_bytes(DATA) < narrow.transport.agreed.queue_bytes[DATA] + 2048


def test_all_queues_share_a_budget_for_bytes_beyond_their_limits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow, other = Bench(room_bytes=1_000), Bench(room_bytes=1_000)
    other.sender._queues = slow.queues
    assert slow.push(800_000) != DROPPED
    assert other.push(800_000) == DROPPED
    assert other.push(100) != DROPPED, "small messages are bounded by their queue"
    assert "limits/transport/unsent_process_bytes is 1000000" in caplog.text
    assert other.sender.dropped == 1
    slow.sender.stop()
    assert slow.queues.held_bytes == 0
    assert other.push(800_000) != DROPPED
    other.sender.stop()


def test_a_message_of_any_size_fits_if_nothing_is_queued() -> None:
    bench = Bench()
    assert bench.push(UNSENT_PROCESS_BYTES_MAX >> 8) != DROPPED
    bench.sender.stop()
    assert QueueBudget(10).reserve(11)


def test_a_sent_queue_releases_its_budget() -> None:
    bench = Bench()
    assert bench.push(500_000) != DROPPED
    assert bench.queues.held_bytes == 0


def full_portions(count: int) -> list[Portion]:
    """Portions of one run, each as long as a batch."""
    message = bytes(Push(WireExpr(0, "k"), Put(bytes(8))))
    in_a_portion = (BATCH - 20) // len(message)
    return [Portion(message * in_a_portion, in_a_portion) for _ in range(count)]


def test_a_run_that_begins_in_a_queue_with_room_is_queued_whole(bench: Bench) -> None:
    """No thread can send between its portions: the link may be idle and the queue full."""
    portions = full_portions(6)
    outlet = LinkOutlet(bench.sender, [], LastRefusal())
    assert not outlet.drops_run(sum(one.count for one in portions), DATA, True)
    outlet.push_portions(portions, DATA, True)
    assert bench.sender.dropped == 0
    bench.sender.after_unlock(-1, False)
    count = sum(one.count for one in portions)
    assert len(bench.receive_payloads(count)) == count
    assert bench.queues.held_bytes == 0


def test_a_run_is_bounded_by_the_budget_of_all_queues() -> None:
    narrow = Bench(room_bytes=500)
    narrow.sender._queues = QueueBudget(3 * BATCH)
    outlet = LinkOutlet(narrow.sender, [], LastRefusal())
    outlet.push_portions(full_portions(50), DATA, True)
    assert narrow.sender.dropped > 0
    assert narrow.transport.total_queued_bytes() < 8 * BATCH
    finish(narrow)


def test_a_run_that_finds_no_room_is_dropped_and_counted() -> None:
    narrow = Bench(room_bytes=500)
    while narrow.push(300) != DROPPED:
        pass
    dropped = narrow.sender.dropped
    assert not narrow.sender.drops_run(100, BLOCK, True)
    assert not narrow.sender.drops_run(100, BLOCK_FIRST, True)
    assert narrow.sender.drops_run(100, DATA, True)
    assert narrow.sender.drops_run(100, BLOCK, False), "best effort never waits"
    assert narrow.sender.dropped == dropped + 200
    finish(narrow)


def test_a_queue_that_is_never_empty_releases_its_budget() -> None:
    """Charges must not add up while a slow link accepts one batch for each new one."""
    bench = Bench(room_bytes=4 * BATCH)
    outlet = LinkOutlet(bench.sender, [], LastRefusal())
    for _ in range(200):
        if not bench.sender.drops_run(1, DATA, True):
            outlet.push_portions(full_portions(4), DATA, True)
        bench.sender.after_unlock(-1, False)
        bench.other.receive(5.0)
        assert bench.queues.held_bytes <= 8 * BATCH
    finish(bench)


def test_only_the_owner_ends_bulk_and_it_sends_what_was_gathered() -> None:
    bench = Bench()
    node_lock = bench.node_lock
    node_lock.begin_bulk()
    node_lock.begin_bulk()
    for _ in range(100):
        bench.sender.push(bytes(Push(WireExpr(0, "k"), Put(b"x"))), DATA, True)
        bench.sender.after_unlock(-1, False, False, True)
    stranger = threading.Thread(target=node_lock.end_bulk)
    stranger.start()
    stranger.join(10.0)
    assert node_lock.bulk.locked()
    node_lock.end_bulk()
    assert not node_lock.bulk.locked()
    assert len(bench.receive_payloads(100)) == 100
    node_lock.end_bulk()
    finish(bench)
