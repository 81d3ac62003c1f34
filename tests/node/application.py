"""Nodes for tests, and a minimal application that uses them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.hosts import PEER, host_mode
from tests.waiting import until
from zenlake.node import Node, NodeSettings
from zenlake.routing.outlet import Outlet
from zenlake.wire import (
    CongestionControl,
    Declare,
    DeclareFinal,
    DeclareSubscriber,
    EndPoint,
    NetworkMessage,
    Priority,
    Push,
    Put,
    QoS,
    WhatAmI,
    WireExpr,
    ZenohId,
)

LOOPBACK = "tcp/127.0.0.1:0"
CONTROL = QoS.of(Priority.CONTROL, CongestionControl.BLOCK)
BLOCK = QoS.of(congestion=CongestionControl.BLOCK)


class Application(Outlet):
    """Records the messages that it receives."""

    __slots__ = ("_face", "_ids", "got", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.got: list[tuple[str, NetworkMessage]] = []
        self._ids = 0
        node.begin()
        self._face = node.dispatcher.add_local(self)
        node.end()

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        self.got.append((key, message))

    def send_to_node(self, message: NetworkMessage) -> None:
        self.node.begin()
        try:
            self.node.dispatcher.receive(self._face, message, True, time.monotonic())
        finally:
            self.node.end()

    def subscribe(self, key: str) -> None:
        self._ids += 1
        self.send_to_node(Declare(DeclareSubscriber(self._ids, WireExpr(0, key)), qos=CONTROL))

    def put(self, key: str, payload: bytes, qos: QoS | None = None) -> None:
        self.send_to_node(Push(WireExpr(0, key), Put(payload), qos=qos))

    def payloads(self, of_key: str | None = None) -> list[bytes]:
        """The number of all publications, or of those with one key."""
        found = []
        for key, message in list(self.got):
            if of_key not in (None, key):
                continue
            if isinstance(message, Push) and isinstance(message.body, Put):
                found.append(bytes(message.body.payload))
        return found

    def declared(self) -> list[str]:
        """Received declarations and undeclarations, by kind."""
        bodies = [message.body for _, message in list(self.got) if isinstance(message, Declare)]
        return [type(body).__name__ for body in bodies if not isinstance(body, DeclareFinal)]

    def wait_for(self, count: int, timeout_s: float = 20.0) -> list[bytes]:
        until(lambda: len(self.payloads()) >= count, timeout_s)
        return self.payloads()


def settings_of(
    role: WhatAmI | None = None,
    connect: list[str] | None = None,
    listen: list[str] | None = None,
    zid: int | None = None,
) -> NodeSettings:
    """Without multicast, so that tests do not find each other; a peer by default (tests/hosts).

    A router does not wait for others when it opens.
    """
    if role is None:
        role = WhatAmI.PEER if host_mode() == PEER else WhatAmI.ROUTER
    settings = NodeSettings(role, None if zid is None else ZenohId.from_int(zid))
    settings.multicast_enabled = False
    if role == WhatAmI.ROUTER:
        settings.scouting_delay_s = 0.0
    settings.connect = [EndPoint.parse(text) for text in connect or []]
    default = [] if role == WhatAmI.CLIENT else [LOOPBACK]
    settings.listen = [EndPoint.parse(text) for text in (default if listen is None else listen)]
    return settings


@contextmanager
def opened(*all_settings: NodeSettings) -> Iterator[list[Node]]:
    """Open nodes, closed at the end, all at the same time."""
    nodes = [Node(settings) for settings in all_settings]
    try:
        for node in nodes:
            node.open()
        yield nodes
    finally:
        threads = [threading.Thread(target=node.close) for node in nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def until_routed(sender: Application, key: str, receiver: Application) -> None:
    """Wait until publications reach the receiver, then clear what it received."""

    def is_received() -> bool:
        sender.put(key, b"anyone?", BLOCK)
        return bool(receiver.payloads())

    until(is_received)
    sender.put(key, b"last", BLOCK)
    until(lambda: receiver.payloads()[-1] == b"last")
    receiver.got.clear()


def until_declared(node: Node, count: int) -> None:
    """Wait until the neighbours of a node have declared this many entities."""

    def declared() -> int:
        faces = [runner.face for runner in list(node.runners.values())]
        return sum(face.declaration_count for face in faces if face is not None)

    until(lambda: declared() == count)


def port_of(node: Node) -> int:
    return int(node.locators()[0].rpartition(":")[2])
