"""Where batches begin and end on a stream link (wire reference §6.1, §9).

A stream carries a little-endian length before each batch: two bytes, or four once low latency
is agreed. On a datagram link the datagram is the batch and nothing of this is needed.
"""

from __future__ import annotations

from zenlake.errors import LocalError, WireError
from zenlake.limits import BATCH_BYTES_MAX, LOW_LATENCY_UNIT_BYTES_MAX


class StreamDeframer:
    """Cuts the bytes of a stream into batches, however they arrive.

    It keeps at most one unfinished batch, and refuses a length above its limit before it waits
    for a single byte of it.
    """

    __slots__ = ("_buffer", "_limit", "_offset", "_pos", "_prefix_bytes")

    def __init__(self) -> None:
        self._buffer = b""
        self._pos = 0
        self._offset = 0  # of the buffer within the stream
        self._prefix_bytes = 2
        self._limit = BATCH_BYTES_MAX

    def limit_batches(self, batch_size: int) -> None:
        """The agreed batch size, which counts the prefix too (wire reference §6.1)."""
        self._limit = batch_size - 2

    def switch_to_low_latency(self, batch_size: int = LOW_LATENCY_UNIT_BYTES_MAX) -> None:
        """From here on lengths have four bytes; call it between two batches."""
        self._prefix_bytes = 4
        self._limit = batch_size

    @property
    def pending_bytes(self) -> int:
        """How many bytes are kept that no batch was made of yet."""
        return len(self._buffer) - self._pos

    def feed(self, data: bytes) -> None:
        """Takes in bytes; ask `next_batch` afterwards until it gives None."""
        self._offset += self._pos
        self._buffer = self._buffer[self._pos :] + data
        self._pos = 0

    def next_batch(self) -> bytes | None:
        """The next complete batch, possibly empty, or None until more bytes are fed."""
        start = self._pos + self._prefix_bytes
        if len(self._buffer) < start:
            return None
        size = int.from_bytes(self._buffer[self._pos : start], "little")
        if size > self._limit:
            offset = self._offset + self._pos
            cause = f"{size} bytes, at most {self._limit} are agreed"
            raise WireError("batch", "length", offset, cause)
        stop = start + size
        if len(self._buffer) < stop:
            return None
        self._pos = stop
        return self._buffer[start:stop]

    def receive(self, data: bytes) -> list[bytes]:
        """Takes in bytes and gives the batches that are complete now."""
        self.feed(data)
        batches = []
        while (batch := self.next_batch()) is not None:
            batches.append(batch)
        return batches


def frame_batch(content: bytes) -> bytes:
    """A batch as a stream link carries it."""
    if len(content) > BATCH_BYTES_MAX:
        raise LocalError(f"a batch of {len(content)} bytes, at most {BATCH_BYTES_MAX} fit")
    return len(content).to_bytes(2, "little") + content


def frame_low_latency(content: bytes) -> bytes:
    """A low-latency unit as a stream link carries it."""
    if len(content) > LOW_LATENCY_UNIT_BYTES_MAX:
        raise LocalError(
            f"a unit of {len(content)} bytes, at most {LOW_LATENCY_UNIT_BYTES_MAX} are possible"
        )
    return len(content).to_bytes(4, "little") + content
