"""A minimal session that a real node accepts: a handshake over TCP, then batches."""

from __future__ import annotations

import socket
from collections import deque
from typing import TypeVar

from zenlake.wire import Frame, Init, Message, NetworkMessage, Open, WhatAmI, ZenohId, decode
from zenlake.wire.batch import decode_batch
from zenlake.wire.framing import StreamDeframer, frame_batch

M = TypeVar("M", bound=NetworkMessage)


class Link:
    """A client's link without QoS, so that every message is in one lane."""

    def __init__(self, port: int, zid: ZenohId) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.deframer = StreamDeframer()
        self.inbox: deque[NetworkMessage] = deque()
        self.send(Init(WhatAmI.CLIENT, zid, patch=1))
        ack = self.receive_one()
        assert isinstance(ack, Init)
        assert ack.cookie is not None
        self.sn = 0
        self.send(Open(10, self.sn, seconds=True, cookie=ack.cookie))
        assert isinstance(self.receive_one(), Open)

    def send(self, message: Message) -> None:
        self.socket.sendall(frame_batch(bytes(message)))

    def send_network(self, message: NetworkMessage) -> None:
        self.send(Frame(self.sn, [message]))
        self.sn += 1

    def receive_one(self) -> Message:
        """The only message of the next batch, as in the handshake."""
        return decode(self.receive(), "transport")

    def receive(self) -> bytes:
        """The content of the next batch that is not empty."""
        while True:
            batch = self.deframer.next_batch()
            if batch:
                return batch
            if batch is None:
                data = self.socket.recv(65536)
                assert data, "the node closed the link"
                self.deframer.feed(data)

    def next_network(self) -> NetworkMessage:
        """The next network message; every byte of a real node must decode, and encode again."""
        while not self.inbox:
            content = self.receive()
            batch = decode_batch(content)
            assert batch.error is None
            assert b"".join(map(bytes, batch.messages)) == content
            for message in batch.messages:
                if isinstance(message, Frame):
                    self.inbox += message.messages
        return self.inbox.popleft()

    def receive_until(self, kind: type[M]) -> M:
        """The next message of a kind; others are skipped."""
        while True:
            message = self.next_network()
            if isinstance(message, kind):
                return message

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
