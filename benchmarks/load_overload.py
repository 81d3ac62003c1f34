"""Overload of a router: publishers and a subscriber in processes, and their rates."""

from __future__ import annotations

import multiprocessing
import time
from typing import Any

from bench_idle_sessions import Router
from bench_router import RawSession

from zenlake.wire import CongestionControl, Declare, DeclareSubscriber, Push, Put, QoS, WireExpr

PAYLOAD_BYTES = 100
WARM_S = 2.0
"""Times of the first messages do not count: each session gets a reader with them."""
MESSAGES_IN_A_BATCH = 64
AHEAD_S = 0.002
SLOW_S = 0.1
"""A slow subscriber makes up for so much time in which nothing came."""
SPAWN = multiprocessing.get_context("spawn")
MIB = 1 << 20


def publish_flood(
    endpoint: str, congestion: CongestionControl, rate: float, sent: Any, is_over: Any
) -> None:
    """Send batches of equal messages, `rate` bytes a second; 0: as fast as possible."""
    session = RawSession(endpoint)
    message = bytes(Push(WireExpr(0, "flood"), Put(bytes(8)), QoS.of(congestion=congestion)))
    content = message * MESSAGES_IN_A_BATCH
    began = time.monotonic()
    while not is_over.value:
        # A sleep takes longer than sending a batch, so one sleep covers many batches.
        if rate and (ahead_s := began + sent.value / rate - time.monotonic()) > AHEAD_S:
            time.sleep(ahead_s)
        session.send(content)
        sent.value += len(content)


def receive_flood(endpoint: str, rate: float, received: Any, is_ready: Any) -> None:
    """Count bytes, reading at most `rate` bytes a second; 0: no limit."""
    session = RawSession(endpoint)
    session.say(Declare(DeclareSubscriber(1, WireExpr(0, "flood"))))
    is_ready.set()
    buffer = bytearray(1 << 19)
    due = time.monotonic()
    while size := session.socket.recv_into(buffer):
        received.value += size
        if rate:
            due = max(due, time.monotonic() - SLOW_S) + size / rate
            time.sleep(max(0.0, due - time.monotonic()))


class Flood:
    """Publishers of the same kind, each a separate process."""

    def __init__(
        self, endpoint: str, count: int, congestion: CongestionControl, rate: float = 0.0
    ) -> None:
        self._is_over = SPAWN.RawValue("b", 0)
        self._sent = [SPAWN.RawValue("Q", 0) for _ in range(count)]
        self._processes = [
            SPAWN.Process(
                target=publish_flood,
                args=(endpoint, congestion, rate, sent, self._is_over),
                daemon=True,
            )
            for sent in self._sent
        ]
        for process in self._processes:
            process.start()
        while not all(sent.value for sent in self._sent):
            time.sleep(0.01)
        time.sleep(WARM_S)

    def sent_bytes(self) -> int:
        return sum(sent.value for sent in self._sent)

    def stop(self) -> None:
        self._is_over.value = 1
        for process in self._processes:
            process.join()


class Drain:
    """A subscriber in a separate process that counts bytes."""

    def __init__(self, endpoint: str, rate: float) -> None:
        self._received = SPAWN.RawValue("Q", 0)
        is_ready = SPAWN.Event()
        self._process = SPAWN.Process(
            target=receive_flood, args=(endpoint, rate, self._received, is_ready), daemon=True
        )
        self._process.start()
        is_ready.wait()
        time.sleep(0.2)

    def received_bytes(self) -> int:
        return int(self._received.value)

    def close(self) -> None:
        self._process.kill()
        self._process.join()


class Flow:
    """The rates of a flood and of its drain over a time, in bytes a second."""

    def __init__(self, router: Router, flood: Flood, drain: Drain, secs: float) -> None:
        began, sent, received = time.monotonic(), flood.sent_bytes(), drain.received_bytes()
        cpu_s = router.cpu_s()
        self.highest_bytes = 0
        while (left_s := began + secs - time.monotonic()) > 0:
            time.sleep(min(1.0, left_s))
            self.highest_bytes = max(self.highest_bytes, router.resident_bytes())
        took_s = time.monotonic() - began
        self.sent = (flood.sent_bytes() - sent) / took_s
        self.received = (drain.received_bytes() - received) / took_s
        self.cpu = (router.cpu_s() - cpu_s) / took_s


def ping_ms(endpoint: str) -> float:
    """Round-trip time through the router, in a separate session."""
    session = RawSession(endpoint)
    session.say(Declare(DeclareSubscriber(1, WireExpr(0, "ping"))))
    other = RawSession(endpoint)
    time.sleep(0.05)
    began = time.monotonic()
    other.say(Push(WireExpr(0, "ping"), Put(bytes(PAYLOAD_BYTES))))
    session.socket.settimeout(30)
    got = 0
    while got < PAYLOAD_BYTES:
        got += len(session.socket.recv(65_536))
    took_ms = (time.monotonic() - began) * 1e3
    session.socket.close()
    other.socket.close()
    return took_ms


def overload(endpoint: str, router: Router, secs: float, receiver_rate: float) -> None:
    drain = Drain(endpoint, receiver_rate)
    flood = Flood(endpoint, 1, CongestionControl.BLOCK)
    peak = Flow(router, flood, drain, min(secs, 10.0))
    flood.stop()
    before = router.resident_bytes()
    flood = Flood(endpoint, 3, CongestionControl.DROP, peak.sent)
    flow = Flow(router, flood, drain, secs)
    flood.stop()
    stopped = time.monotonic()
    while ping_ms(endpoint) > 20 and time.monotonic() < stopped + 30:
        pass
    recovered_s = time.monotonic() - stopped
    dropped = 1 - flow.received / (flow.sent * peak.received / peak.sent)
    print(
        f"overload: peak {peak.received / MIB:.1f} MiB/s ({peak.cpu:.2f} of a core), three"
        f" publishers for {secs:.0f} s: {flow.received / MIB:.1f} MiB/s arrive"
        f" ({flow.received / peak.received:.0%}; {flow.cpu:.2f} of a core), the router reads"
        f" {flow.sent / peak.sent:.1f} times as much as at the peak and drops"
        f" {max(0.0, dropped):.0%}, at most {(flow.highest_bytes - before) / MIB:+.0f} MiB more,"
        f" quick again after {recovered_s:.1f} s",
        flush=True,
    )
    drain.close()
