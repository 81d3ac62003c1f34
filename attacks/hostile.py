"""Hostile peers: raw sockets that speak as much of the protocol as an attack needs.

Attackers come from other loopback addresses than the well-behaved clients, which use 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Iterable

from attacks.plan import Tally, Target
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    Declaration,
    Declare,
    Fragment,
    Frame,
    NetworkMessage,
    Priority,
    QoS,
    WhatAmI,
    ZenohId,
)
from zenlake.wire.framing import StreamDeframer, frame_batch
from zenlake.wire.sequence import next_sn

SOURCE = "127.0.0.2"
CONTROL = QoS(Priority.CONTROL)
HEADER_BYTES = 16
"""More bytes than a frame needs around its messages."""
WAIT_S = 5.0
SEND_WAIT_S = 3.0
KEEP_ALIVE = frame_batch(b"\x04")


def random_zid() -> ZenohId:
    return ZenohId(os.urandom(8) + b"\1")


def connect(target: Target, source: str = SOURCE, receive_bytes: int = 0) -> socket.socket:
    """A TCP connection to the node; nothing is sent yet."""
    made = socket.socket()
    try:
        if receive_bytes:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        made.settimeout(WAIT_S)
        made.bind((source, 0))
        made.connect(("127.0.0.1", target.port))
    except OSError:
        made.close()
        raise
    return made


def reset(connected: socket.socket) -> None:
    """Close with RST instead of FIN."""
    with contextlib.suppress(OSError):
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connected.close()


def is_ended(connected: socket.socket, timeout_s: float) -> bool:
    """Whether the node closes the connection within the time; what it sends is discarded."""
    deadline = time.monotonic() + timeout_s
    try:
        while (left := deadline - time.monotonic()) > 0:
            connected.settimeout(left)
            if not connected.recv(65536):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True
    return False


class HostileClient:
    """An open session over TCP; what the node sends is read and discarded unless `is_deaf`."""

    def __init__(
        self,
        target: Target,
        tally: Tally,
        *,
        role: WhatAmI = WhatAmI.CLIENT,
        source: str = SOURCE,
        lease_ms: int = 120_000,
        is_deaf: bool = False,
        wait_s: float = WAIT_S,
    ) -> None:
        self.tally = tally
        self.target = target
        self.received_bytes = 0
        self.is_closed = False
        self.socket = connect(target, source, 4096 if is_deaf else 0)
        self.socket.settimeout(wait_s)
        try:
            self._open(Offer(random_zid(), role, lease_ms=lease_ms))
        except BaseException:
            self.socket.close()
            raise
        self.socket.settimeout(None)
        # A node that stops reading must not hold up the end of the attack.
        limit = struct.pack("ll", int(SEND_WAIT_S), 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        if not is_deaf:
            threading.Thread(target=self._drain, daemon=True).start()

    def _open(self, offer: Offer) -> None:
        opener = Opener(offer)
        deframer = StreamDeframer()
        self._send(frame_batch(opener.start()))
        while opener.agreed is None:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("the node closed the connection during the handshake")
            for batch in deframer.receive(data):
                if opener.agreed is None and (answer := opener.receive(batch)) is not None:
                    self._send(frame_batch(answer))
        self.zid = opener.agreed.zid
        self.sn = opener.agreed.own_sn
        self.batch_bytes = opener.agreed.batch_size - HEADER_BYTES
        self._sn_mask = opener.agreed.sn_mask

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.socket.recv(1 << 18):
                self.received_bytes += len(data)
        self.is_closed = True

    def _send(self, data: bytes, messages: int = 1) -> None:
        self.socket.sendall(data)
        self.tally.sent(data, messages)

    def send_raw(self, data: bytes, messages: int = 1) -> None:
        """Bytes as they are, without a frame around them."""
        self._send(data, messages)

    def next_frame(self, content: bytes, reliable: bool = True) -> bytes:
        header = bytes(Frame(self.sn, [], reliable))
        self.sn = next_sn(self.sn, self._sn_mask)
        return frame_batch(header + content)

    def send(self, messages: Iterable[NetworkMessage | bytes]) -> bool:
        """Send messages in full frames; False if the node closed the session or time is up."""
        content: list[bytes] = []
        size = 0
        try:
            for message in messages:
                data = bytes(message)
                if size + len(data) > self.batch_bytes:
                    self._send(self.next_frame(b"".join(content)), len(content))
                    content, size = [], 0
                    if self.target.is_over:
                        return False
                content.append(data)
                size += len(data)
            if content:
                self._send(self.next_frame(b"".join(content)), len(content))
        except OSError:
            return False
        return True

    def send_large(self, message: NetworkMessage) -> bool:
        """One message in fragments; False if the node closed the session or reads no more."""
        data = bytes(message)
        size = self.batch_bytes
        try:
            for start in range(0, len(data), size):
                piece = data[start : start + size]
                is_last = start + size >= len(data)
                fragment = Fragment(self.sn, piece, True, not is_last, first=start == 0)
                self.sn = next_sn(self.sn, self._sn_mask)
                self._send(frame_batch(bytes(fragment)), 1 if is_last else 0)
                if self.target.is_over:
                    return False
        except OSError:
            return False
        return True

    def declare(self, declarations: Iterable[Declaration]) -> bool:
        return self.send(Declare(one, qos=CONTROL) for one in declarations)  # type: ignore[arg-type]  # a union

    def close(self, is_reset: bool = False) -> None:
        if is_reset:
            reset(self.socket)
            return
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
