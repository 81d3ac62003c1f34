"""The batches of a handshake on a link, with a deadline (wire §5.1).

The other side is not authenticated yet. So its bytes are cut into batches in linear time, and a
link that sends more than HANDSHAKE_BYTES_MAX without finishing the handshake is closed.
"""

from __future__ import annotations

import contextlib
import time
from typing import Final

from zenlake.limits import HANDSHAKE_BYTES_MAX
from zenlake.links import Link, LinkError, LinkTimeout
from zenlake.protocol.errors import HandshakeError
from zenlake.protocol.tap import LinkTap
from zenlake.wire.framing import StreamDeframer, frame_batch

_FAREWELL_S: Final = 0.1


class HandshakeBatches:
    """The batches of a handshake on one link."""

    def __init__(
        self, link: Link, deadline: float, idle_s: float, tap: LinkTap | None = None
    ) -> None:
        self._link = link
        self._deadline = deadline
        self._idle_s = idle_s
        self._deframer = StreamDeframer()
        self._received_bytes = 0
        self._tap = tap

    def pop_rest(self) -> bytes:
        """The bytes that came after the last batch of the handshake."""
        return self._deframer.pop_rest()

    def send(self, content: bytes) -> None:
        """Send one batch; always with the length prefix on a stream, even the OpenAck."""
        self._send(content, self._deadline)

    def _send(self, content: bytes, deadline: float) -> None:
        link = self._link
        data = frame_batch(content) if link.is_stream else content
        if self._tap is not None:
            self._tap.sent(data, False)
        dropped = link.dropped
        while data:
            taken = link.try_send(data)
            data = data[taken:]
            if data and not taken and not link.wait_writable(deadline - time.monotonic()):
                raise LinkTimeout(link.dst, "the link does not accept the handshake")
        if link.dropped != dropped:  # no answer can come after a closed link
            raise LinkError(link.dst, "a datagram of the handshake cannot be sent")

    def receive(self) -> bytes:
        """The content of the next batch that is not empty."""
        content = self._receive()
        if self._tap is not None:
            self._tap.received(content, False)
        return content

    def _receive(self) -> bytes:
        while True:
            while (content := self._deframer.next_batch()) is not None:
                if content:
                    return content
            if self._received_bytes >= HANDSHAKE_BYTES_MAX:
                cause = f"{self._received_bytes} bytes came and the handshake is not over"
                raise LinkError(self._link.dst, cause)
            patience_s = min(self._idle_s, self._deadline - time.monotonic())
            if patience_s <= 0:
                raise LinkTimeout(self._link.dst, "the handshake takes too long")
            data = self._link.receive(patience_s)
            if not data:
                raise LinkError(self._link.dst, "closed during the handshake")
            self._received_bytes += len(data)
            if not self._link.is_stream:
                return data
            self._deframer.feed(data)

    def send_close(self, error: HandshakeError) -> None:
        """Send CLOSE with the reason of the error, if the link accepts it in time."""
        if error.farewell is not None:
            with contextlib.suppress(LinkError):
                self._send(error.farewell, time.monotonic() + _FAREWELL_S)
