"""A router under load: many active sessions, overload, and many sessions that reconnect at once.

    python benchmarks/bench_load.py [--case active overload herd] [--secs 20]

    active    1,000 sessions publish 10 messages of 100 B a second, each for one other session
    overload  three publishers offer three times the peak: what arrives, compared with the peak, and
              when the router is quick again
        herd      2,000 sessions lose their router at the same time, and reconnect with growing,
              random pauses

The router is a separate process, the sessions are sockets of this one (`ulimit -n`). In `overload`
each publisher and the subscriber are separate processes: in threads of one process the publishers
would slow the subscriber down, and its delay would count as the router's.

The peak is what arrives from one publisher that waits for the router (congestion control BLOCK), so
that nothing is dropped. Each of the three publishers, whose messages may be dropped (DROP), then
offers as much as that one sent. Where the router is the bottleneck it reads no more than it can
forward, TCP holds the publishers up, and nothing is dropped. With `--receiver-mib 100` the
subscriber reads 100 MiB a second and is the bottleneck; then the router drops the excess.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import select
import socket
import struct
import time
from typing import Any

from bench_idle_sessions import Router
from bench_router import RawSession

from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    CongestionControl,
    Declare,
    DeclareSubscriber,
    Frame,
    Push,
    Put,
    QoS,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.batch import decode_batch
from zenlake.wire.framing import StreamDeframer, frame_batch

PAYLOAD_BYTES = 100
DECLARED_S = 4.0
"""For the router to read all declarations, on a busy machine too."""
WARM_S = 2.0
"""Times of the first messages do not count: each session gets a reader with them."""
MESSAGES_IN_A_BATCH = 64
AHEAD_S = 0.002
SLOW_S = 0.1
"""A slow subscriber makes up for so much time in which nothing came."""
SPAWN = multiprocessing.get_context("spawn")
STAMP = struct.Struct("<d")
MIB = 1 << 20


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


class Poller:
    """Reads all sockets, and measures the latency of each publication by its timestamp."""

    def __init__(self, sessions: list[RawSession]) -> None:
        self._poll = select.epoll()
        self._sessions = {one.socket.fileno(): one for one in sessions}
        for one in sessions:
            one.socket.setblocking(False)
            self._poll.register(one.socket.fileno(), select.EPOLLIN)
        self.times: list[float] = []
        self.received = 0

    def read(self, wait_s: float) -> None:
        for descriptor, _ in self._poll.poll(wait_s):
            session = self._sessions[descriptor]
            try:
                data = session.socket.recv(65_536)
            except BlockingIOError:
                continue
            now = time.monotonic()
            for batch in session.deframer.receive(data):
                for frame in decode_batch(bytes(batch)).messages:
                    for message in frame.messages if isinstance(frame, Frame) else ():
                        if isinstance(message, Push) and isinstance(message.body, Put):
                            sent_at = STAMP.unpack_from(bytes(message.body.payload))[0]
                            self.times.append(now - sent_at)
                            self.received += 1


def active(endpoint: str, router: Router, secs: float, count: int, rate: float) -> None:
    sessions = [RawSession(endpoint) for _ in range(count)]
    keys = [f"load/{number}" for number in range(count)]
    for number, session in enumerate(sessions):
        session.say(Declare(DeclareSubscriber(1, WireExpr(0, keys[(number + 1) % count]))))
    heads = [
        bytes(Push(WireExpr(0, key), Put(bytes(PAYLOAD_BYTES))))[:-PAYLOAD_BYTES] for key in keys
    ]
    rest = bytes(PAYLOAD_BYTES - STAMP.size)
    poller = Poller(sessions)
    time.sleep(DECLARED_S)
    poller.read(0)
    is_warm = False
    sent, cpu_s = 0, router.cpu_s()
    began = time.monotonic()
    while (now := time.monotonic()) < began + secs:
        due = int((now - began) * count * rate)
        while sent < due:
            at = sent % count
            sessions[at].send(heads[at] + STAMP.pack(time.monotonic()) + rest)
            sent += 1
            if sent % 20 == 0:
                poller.read(0)
        poller.read(0.001)
        if not is_warm and now > began + WARM_S:
            is_warm = True
            poller.times.clear()
    took_s = time.monotonic() - began
    share = (router.cpu_s() - cpu_s) / took_s
    deadline = time.monotonic() + 20
    while poller.received < sent and time.monotonic() < deadline:
        poller.read(0.1)
    lost = sent - poller.received
    p50, p99 = (percentile(poller.times, part) * 1e3 for part in (0.5, 0.99))
    print(
        f"active: {count:,} sessions, {sent / took_s:,.0f} messages a second,"
        f" {lost} of {sent:,} lost, p50 {p50:.1f} ms, p99 {p99:.1f} ms, {share:.2f} of a core,"
        f" {router.resident_bytes() / MIB:.0f} MiB",
        flush=True,
    )
    for one in sessions:
        one.socket.close()


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


class Returning:
    """A client that reconnects whenever its link ends; driven by `herd`."""

    def __init__(self, number: int, port: int, rng: random.Random) -> None:
        self._port = port
        self._rng = rng
        self._key = f"herd/{number}"
        self.is_open = False
        self.socket: socket.socket | None = None
        self.due = 0.0
        self._wait_s = 0.25
        self.attempts = 0

    def connect(self) -> socket.socket:
        self.attempts += 1
        self._opener = Opener(
            Offer(ZenohId(self._rng.randbytes(8) + b"\1"), WhatAmI.CLIENT, lease_ms=600_000)
        )
        self._deframer = StreamDeframer()
        made = socket.socket()
        made.setblocking(False)
        made.connect_ex(("127.0.0.1", self._port))
        self.socket = made
        self._has_begun = False
        return made

    def writable(self) -> None:
        assert self.socket is not None
        if not self._has_begun:
            self._has_begun = True
            self.socket.sendall(frame_batch(self._opener.start()))

    def readable(self) -> None:
        assert self.socket is not None
        data = self.socket.recv(65_536)
        if not data:
            raise ConnectionError("closed")
        for batch in self._deframer.receive(data):
            if self._opener.agreed is not None:
                continue
            answer = self._opener.receive(batch)
            if answer is not None:
                self.socket.sendall(frame_batch(answer))
            if self._opener.agreed is not None:
                declaration = Declare(DeclareSubscriber(1, WireExpr(0, self._key)))
                frame = bytes(Frame(self._opener.agreed.own_sn, [declaration]))
                self.socket.sendall(frame_batch(frame))
                self.is_open = True
                self._wait_s = 0.25

    def lost(self, now: float) -> None:
        assert self.socket is not None
        self.socket.close()
        self.socket = None
        self.is_open = False
        self.due = now + self._wait_s * self._rng.uniform(0.75, 1.25)
        self._wait_s = min(4.0, self._wait_s * 2)


class Herd:
    def __init__(self, port: int, count: int) -> None:
        rng = random.Random(1)
        self.clients = [Returning(number, port, rng) for number in range(count)]
        self._poll = select.epoll()
        self._by_descriptor: dict[int, Returning] = {}

    def open_count(self) -> int:
        return sum(one.is_open for one in self.clients)

    def step(self) -> None:
        now = time.monotonic()
        for one in self.clients:
            if one.socket is None and one.due <= now:
                made = one.connect()
                self._by_descriptor[made.fileno()] = one
                self._poll.register(made.fileno(), select.EPOLLIN | select.EPOLLOUT)
        for descriptor, events in self._poll.poll(0.01):
            client = self._by_descriptor[descriptor]
            try:
                if events & select.EPOLLIN or events & (select.EPOLLHUP | select.EPOLLERR):
                    client.readable()
                if events & select.EPOLLOUT:
                    client.writable()
                    self._poll.modify(descriptor, select.EPOLLIN)
            except BlockingIOError:
                continue
            except Exception:
                self._poll.unregister(descriptor)
                del self._by_descriptor[descriptor]
                client.lost(time.monotonic())

    def run_until_open(self, wait_s: float) -> float:
        began = time.monotonic()
        while self.open_count() < len(self.clients) and time.monotonic() < began + wait_s:
            self.step()
        return time.monotonic() - began


def herd(port: int, router: Router, count: int) -> None:
    clients = Herd(port, count)
    clients.run_until_open(60)
    first = clients.open_count()
    router.end()
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        clients.step()
    attempts = sum(one.attempts for one in clients.clients)
    began = time.monotonic()
    router = Router(port, 2 * count)
    started_s = time.monotonic() - began
    busy_since, longest_s, last, cpu_s = 0.0, 0.0, time.monotonic(), router.cpu_s()
    began = time.monotonic()
    while clients.open_count() < count and time.monotonic() < began + 60:
        clients.step()
        now = time.monotonic()
        if now - last >= 0.5:
            share = (router.cpu_s() - cpu_s) / (now - last)
            busy_since = (busy_since or last) if share > 0.95 else 0.0
            longest_s = max(longest_s, now - busy_since if busy_since else 0.0)
            last, cpu_s = now, router.cpu_s()
    took_s = time.monotonic() - began
    again = sum(one.attempts for one in clients.clients) - attempts
    print(
        f"herd: {first:,} of {count:,} sessions open, {clients.open_count():,} back"
        f" {took_s:.1f} s after the router was ready ({started_s:.1f} s), {again:,} attempts,"
        f" longest time above 95 % of a core {longest_s:.1f} s,"
        f" {router.resident_bytes() / MIB:.0f} MiB",
        flush=True,
    )
    router.end()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cases = ("active", "overload", "herd")
    parser.add_argument("--case", nargs="+", choices=cases, default=cases)
    parser.add_argument("--secs", type=float, default=20.0)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--rate", type=float, default=10.0, help="messages a second of each")
    parser.add_argument("--clients", type=int, default=2_000, help="of the herd")
    parser.add_argument(
        "--receiver-mib", type=float, default=0.0, help="a second, in overload; 0: all there are"
    )
    parser.add_argument("--port", type=int, default=17_448)
    arguments = parser.parse_args()
    endpoint = f"tcp/127.0.0.1:{arguments.port}"
    for case in arguments.case:
        router = Router(arguments.port, 2 * arguments.clients)
        try:
            if case == "active":
                active(endpoint, router, arguments.secs, arguments.sessions, arguments.rate)
            elif case == "overload":
                overload(endpoint, router, arguments.secs, arguments.receiver_mib * MIB)
            else:
                herd(arguments.port, router, arguments.clients)
        finally:
            router.end()


if __name__ == "__main__":
    main()
