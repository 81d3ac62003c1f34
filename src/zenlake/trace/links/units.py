"""Units: the framing of batches in a stream, and the content of a unit.

A stream has a length before each unit: two bytes, or four with low latency (wire reference
§6.1, §9); a WebSocket has its own frames. The handshake decides the form of the content:
transport messages, possibly compressed, or network messages only.
"""

from __future__ import annotations

from typing import Final, cast

from zenlake.errors import WireError
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.trace.links.websocket import frame_sizes
from zenlake.wire import Init
from zenlake.wire.batch import decode_batch, decode_low_latency
from zenlake.wire.compression import decompress_batch
from zenlake.wire.message import Message

# Framing: bytes of the length before a unit, or frames of a WebSocket.
SHORT: Final = 2
LONG: Final = 4
WEBSOCKET: Final = 0

# Form: the content of a unit.
PLAIN: Final = 0
COMPRESSED: Final = 1
LOW_LATENCY: Final = 2

UNKNOWN: Final = -1
"""More bytes are needed to know the sizes of a unit."""
IMPOSSIBLE: Final = -2


def unit_sizes(framing: int, buffer: bytes, at: int) -> tuple[int, int]:
    """The sizes of header and content of the unit at `at`.

    The first is UNKNOWN if the buffer ends too early, IMPOSSIBLE if no unit can begin there.
    """
    if framing == WEBSOCKET:
        return frame_sizes(buffer, at)
    if len(buffer) - at < framing:
        return UNKNOWN, 0
    size = buffer[at] | buffer[at + 1] << 8
    if framing == LONG:
        size |= buffer[at + 2] << 16 | buffer[at + 3] << 24
        if size > BATCH_BYTES_MAX:
            return IMPOSSIBLE, 0
    return framing, size


def form_of(ack: Init) -> int:
    """The form of the units after a handshake with this INIT_ACK."""
    if ack.compression:
        return COMPRESSED
    return LOW_LATENCY if ack.lowlatency else PLAIN


class Content:
    """The messages of a unit, and the error if decoding stopped before its end."""

    __slots__ = ("_size", "content", "error", "form", "messages")

    def __init__(
        self,
        messages: list[Message],
        error: WireError | None,
        size: int,
        form: int = PLAIN,
        content: bytes = b"",
    ) -> None:
        self.messages = messages
        self.error = error
        self._size = size
        self.form = form
        self.content = content
        """The bytes that the messages were decoded from."""

    def lost_bytes(self, is_cut: bool = False) -> int:
        """How many bytes are in no message; 0 if the unit is whole and was decoded to its end."""
        if self.error is None and not is_cut:
            return 0
        return max(self._size - sum([len(bytes(one)) for one in self.messages]), 0)


def read_content(form: int, data: bytes) -> Content:
    """Decodes a unit, or the part of it that was captured."""
    if form == LOW_LATENCY:
        unit = decode_low_latency(data)
        return Content(cast("list[Message]", unit.messages), unit.error, len(data), form, data)
    content = data
    if form == COMPRESSED:
        try:
            content = decompress_batch(data)
        except WireError as error:
            return Content([], error, len(data))
    batch = decode_batch(content)
    return Content(cast("list[Message]", batch.messages), batch.error, len(data), form, content)
