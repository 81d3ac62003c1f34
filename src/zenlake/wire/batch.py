"""Batches: the content of one transport unit (wire reference §6.1, §6.4, §9).

A batch is transport messages back to back; a low-latency unit is network messages, KEEP_ALIVE
or CLOSE without frames. Decoding one returns the complete messages, and the error that ended it
early if there was one: a receiver delivers the messages before it reaches the error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.errors import WireError
from zenlake.gil_checkpoint import CHECKPOINT_MASK, gil_checkpoint
from zenlake.wire._generated.network import decode_network
from zenlake.wire._generated.transport import decode_frame_head, decode_transport
from zenlake.wire.headers import CLOSE_ID, FRAME_ID, ID_BITS, KEEP_ALIVE_ID, NETWORK_ID_MIN
from zenlake.wire.message import Message, NetworkMessage, TransportMessage
from zenlake.wire.runs import decode_runs
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64


class _Unit:
    """Decoded messages, and why decoding stopped before the end if it did."""

    __slots__ = ("error",)

    error: WireError | None

    def pop_error(self) -> WireError:
        """Return the error to raise, and remove it from the unit: its traceback refers to a frame
        that refers to the unit, and only the garbage collector would free such a cycle."""
        error, self.error = self.error, None
        assert error is not None
        return error


class Batch(_Unit):
    """The messages of one batch."""

    __slots__ = ("messages",)

    def __init__(self, messages: list[TransportMessage], error: WireError | None) -> None:
        self.messages = messages
        self.error = error


class LowLatencyUnit(_Unit):
    """The messages of one low-latency unit."""

    __slots__ = ("messages",)

    def __init__(
        self, messages: list[NetworkMessage | TransportMessage], error: WireError | None
    ) -> None:
        self.messages = messages
        self.error = error


def decode_batch(data: bytes, keeps_runs: bool = False) -> Batch:
    """The content of one batch: after the length prefix, after decompression. May be empty.

    With `keeps_runs`, long runs of publications are one message each (push_run.py).
    """
    messages: list[TransportMessage] = []
    pos: i64 = 0
    try:
        while pos < len(data):
            if keeps_runs and data[pos] & ID_BITS == FRAME_ID:
                frame, pos = decode_frame_head(data, pos)
                messages.append(frame)
                pos = decode_runs(data, pos, frame.messages)
                continue
            message, pos = decode_transport(data, pos)
            messages.append(message)
            if len(messages) & CHECKPOINT_MASK == 0:
                gil_checkpoint()
    except WireError as error:
        if isinstance(error.partial, TransportMessage):
            messages.append(error.partial)
        return Batch(messages, error)
    return Batch(messages, None)


def decode_low_latency(data: bytes) -> LowLatencyUnit:
    """The content of one low-latency unit: after the length prefix."""
    messages: list[NetworkMessage | TransportMessage] = []
    pos = 0
    try:
        while pos < len(data):
            id = data[pos] & ID_BITS
            if id >= NETWORK_ID_MIN:
                network, pos = decode_network(data, pos)
                messages.append(network)
            elif id in (CLOSE_ID, KEEP_ALIVE_ID):
                transport, pos = decode_transport(data, pos)
                messages.append(transport)
            else:
                cause = f"{id:#04x} is no network message, CLOSE or KEEP_ALIVE"
                raise WireError("low-latency unit", "header", pos, cause)
            if len(messages) & CHECKPOINT_MASK == 0:
                gil_checkpoint()
    except WireError as error:
        return LowLatencyUnit(messages, error)
    return LowLatencyUnit(messages, None)


def encode_messages(messages: list[Message]) -> bytes:
    """Messages back to back."""
    out = BytesWriter()
    for message in messages:
        message.encode(out)
    return out.getvalue()
