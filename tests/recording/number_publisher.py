"""A client that publishes numbers to a router."""

from __future__ import annotations

import os
import socket
import time

from tests.handshake import open_session
from zenlake.protocol.offer import Offer
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Frame,
    Push,
    Put,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.framing import frame_batch
from zenlake.wire.message import NetworkMessage
from zenlake.wire.sequence import next_sn


class NumberPublisher:
    """Publishes numbers at a rate; `sent` has the time of each batch and its last number."""

    def __init__(self, endpoint: str, first: int) -> None:
        port = int(endpoint.rpartition(":")[2])
        self._socket = socket.create_connection(("127.0.0.1", port))
        offer = Offer(ZenohId(os.urandom(8) + b"\1"), WhatAmI.CLIENT, lease_ms=60_000)
        agreed = open_session(self._socket, offer)
        self._sn, self._mask = agreed.own_sn, agreed.sn_mask
        self.next = first
        self.sent: list[tuple[float, int]] = []
        self._send([Declare(DeclareKeyExpr(1, WireExpr(0, "robot")))])

    def _send(self, messages: list[NetworkMessage]) -> None:
        self._socket.sendall(frame_batch(bytes(Frame(self._sn, messages))))
        self._sn = next_sn(self._sn, self._mask)

    def run(self, seconds: float, rate: int, in_a_batch: int = 100) -> None:
        """Publish until the time is over or the link ends."""
        begun = time.monotonic()
        try:
            for number in range(int(seconds * rate / in_a_batch)):
                due = begun + number * in_a_batch / rate
                time.sleep(max(0.0, due - time.monotonic()))
                values = range(self.next, self.next + in_a_batch)
                self._send([Push(WireExpr(1), Put(one.to_bytes(8, "big"))) for one in values])
                self.next += in_a_batch
                self.sent.append((time.monotonic(), self.next - 1))
        except OSError:
            pass  # the router was killed

    def close(self) -> None:
        self._socket.close()
