"""Clients for tests of hostile traffic: one that may misbehave, one that measures."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator

from tests.handshake import open_session
from tests.measuring import least
from tests.node.application import (
    BLOCK,
    CONTROL,
    Application,
    opened,
    port_of,
    settings_of,
    until_routed,
)
from zenlake.errors import ZenlakeError
from zenlake.node import Node
from zenlake.protocol.offer import Offer
from zenlake.wire import Declare, DeclareSubscriber, DeclareToken, Frame, WhatAmI, WireExpr, ZenohId
from zenlake.wire.framing import frame_batch


def connect_to(node: Node) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(node)), timeout=5)


def opens_quickly(node: Node) -> None:
    """A well-behaved client connects within the limit."""

    def open_one() -> float:
        began = time.monotonic()
        with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [client]:
            assert list(client.runners) == [node.zid]
            return time.monotonic() - began

    assert least(open_one, 1.0) < 1.0


class RawClient:
    """A client whose socket the test may leave unread."""

    def __init__(
        self, node: Node, receive_bytes: int = 0, lease_ms: int = 10_000, source: str = ""
    ) -> None:
        self.socket = socket.socket()
        if source:
            self.socket.bind((source, 0))
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(5)
        self.socket.connect(("127.0.0.1", port_of(node)))
        offer = Offer(ZenohId(os.urandom(8) + b"\1"), WhatAmI.CLIENT, lease_ms=lease_ms)
        try:
            self.sn = open_session(self.socket, offer).own_sn
        except ZenlakeError:
            self.socket.close()
            raise

    def subscribe(self, key: str) -> None:
        self.declare(DeclareSubscriber(1, WireExpr(0, key)))

    def declare(self, declaration: DeclareSubscriber | DeclareToken) -> None:
        message = Declare(declaration, qos=CONTROL)
        batch = bytes(Frame(self.sn, [message], qos=None))
        self.socket.sendall(frame_batch(batch))
        self.sn += 1


class Pinger:
    """A well-behaved client that publishes and waits for its own publication, repeatedly."""

    def __init__(self, node: Node, client: Node) -> None:
        self.times: list[float] = []
        self._here = Application(node)
        self._there = Application(client)
        self._here.subscribe("ping")
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        until_routed(self._there, "ping", self._here)

    def _run(self) -> None:
        count = 0
        while not self._is_over.is_set():
            began = time.monotonic()
            self._there.put("ping", b"", BLOCK)
            count += 1
            self._here.wait_for(count)
            self.times.append(time.monotonic() - began)
            time.sleep(0.002)  # so that pings are a small load

    @contextlib.contextmanager
    def pinging(self) -> Iterator[list[float]]:
        self.times = []
        self._here.got.clear()
        self._is_over.clear()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        try:
            yield self.times
        finally:
            self._is_over.set()
            self._thread.join()
