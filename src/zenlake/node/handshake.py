"""A handshake over a link: the machines of `protocol` and a link that waits (wire §5.1)."""

from __future__ import annotations

import contextlib
import time
from typing import Final

from zenlake.links import Link, LinkError, LinkTimeout
from zenlake.protocol.errors import HandshakeError

_FAREWELL_S: Final = 0.1


class Conversation:
    """The batches of a handshake on one link; `rest` is what came after the last one."""

    def __init__(self, link: Link, deadline: float, idle_s: float) -> None:
        self._link = link
        self._deadline = deadline
        self._idle_s = idle_s
        self.rest = b""

    def send(self, content: bytes) -> None:
        """One batch; always with the length prefix on a stream, even the OpenAck."""
        self._send(content, self._deadline)

    def _send(self, content: bytes, deadline: float) -> None:
        link = self._link
        data = len(content).to_bytes(2, "little") + content if link.is_stream else content
        while data:
            taken = link.try_send(data)
            data = data[taken:]
            if data and not taken and not link.wait_writable(deadline - time.monotonic()):
                raise LinkTimeout(link.dst, "the handshake is not taken")

    def receive(self) -> bytes:
        """The content of the next batch that is not empty."""
        while True:
            content = self._take()
            if content:
                return content
            patience_s = min(self._idle_s, self._deadline - time.monotonic())
            if patience_s <= 0:
                raise LinkTimeout(self._link.dst, "the handshake takes too long")
            data = self._link.receive(patience_s)
            if not data:
                raise LinkError(self._link.dst, "closed during the handshake")
            self.rest += data

    def _take(self) -> bytes:
        """A whole batch out of `rest`; b"" if there is none yet."""
        if not self._link.is_stream:
            content, self.rest = self.rest, b""
            return content
        while len(self.rest) >= 2:
            stop = 2 + int.from_bytes(self.rest[:2], "little")
            if len(self.rest) < stop:
                break
            content, self.rest = self.rest[2:stop], self.rest[stop:]
            if content:
                return content
        return b""

    def say_farewell(self, error: HandshakeError) -> None:
        """The CLOSE that tells the other side why; a link that does not take it is let go."""
        if error.farewell is not None:
            with contextlib.suppress(LinkError):
                self._send(error.farewell, time.monotonic() + _FAREWELL_S)
