"""Many clients that lose their router at the same time and reconnect."""

from __future__ import annotations

import random
import select
import socket
import time

from bench_idle_sessions import Router

from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import Declare, DeclareSubscriber, Frame, WhatAmI, WireExpr, ZenohId
from zenlake.wire.framing import StreamDeframer, frame_batch

MIB = 1 << 20


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
