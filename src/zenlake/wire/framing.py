"""Framing: the boundaries of batches on a stream link (wire reference §6.1, §9).

A stream carries a little-endian length before each batch: two bytes, or four once low latency
is agreed. On a datagram link each datagram is one batch.
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import LocalError, WireError
from zenlake.limits import BATCH_BYTES_MAX, LOW_LATENCY_UNIT_BYTES_MAX

_PIECES: Final = 256
"""Above this number the pieces are joined: small pieces need far more memory than their bytes."""


class StreamDeframer:
    """Divides the bytes of a stream into batches, independent of how they arrive.

    It keeps at most one incomplete batch, and refuses a length above its limit before it waits
    for the bytes. Pieces are joined once, when they complete a batch: a batch that arrives byte
    by byte costs no more than its bytes.
    """

    __slots__ = (
        "_buffer",
        "_held_bytes",
        "_limit",
        "_needed_bytes",
        "_offset",
        "_pieces",
        "_pos",
        "_prefix_bytes",
    )

    def __init__(self) -> None:
        self._buffer = b""
        self._pos = 0
        self._offset = 0  # where the buffer begins in the stream
        self._pieces: list[bytes] = []  # bytes that follow the buffer
        self._held_bytes = 0  # the size of the pieces
        self._needed_bytes = 0  # bytes after the position that complete the next batch
        self._prefix_bytes = 2
        self._limit = BATCH_BYTES_MAX

    def limit_batches(self, batch_size: int) -> None:
        """Set the agreed batch size, which counts the prefix too (wire reference §6.1)."""
        self._limit = batch_size - 2

    def switch_to_low_latency(self, batch_size: int = LOW_LATENCY_UNIT_BYTES_MAX) -> None:
        """Read lengths of four bytes from here on; called between two batches."""
        self._prefix_bytes = 4
        self._limit = batch_size
        self._needed_bytes = 0

    @property
    def pending_bytes(self) -> int:
        """The number of bytes kept of an incomplete batch."""
        return len(self._buffer) - self._pos + self._held_bytes

    def pop_rest(self) -> bytes:
        """The bytes that were not returned in a batch, for another reader of the same stream."""
        self._join()
        rest = self._buffer[self._pos :]
        self._pos = len(self._buffer)
        self._needed_bytes = 0
        return rest

    def feed(self, data: bytes) -> None:
        """Add bytes; call `next_batch` afterwards until it returns None."""
        if self._pos == len(self._buffer) and not self._pieces:
            self._offset += self._pos
            self._buffer = data
            self._pos = 0
        else:
            if len(self._pieces) == _PIECES:
                self._pieces = [b"".join(self._pieces)]
            self._pieces.append(data)
            self._held_bytes += len(data)

    def _join(self) -> None:
        if self._pieces:
            self._pieces.insert(0, self._buffer[self._pos :])
            self._offset += self._pos
            self._buffer = b"".join(self._pieces)
            self._pos = 0
            self._pieces = []
            self._held_bytes = 0

    def _complete(self) -> bytes:
        """The batch that begins in the buffer and ends in the one piece after it.

        The rest of the piece, which may hold many more batches, is not copied.
        """
        piece = self._pieces.pop()
        missing_bytes = self._needed_bytes - (len(self._buffer) - self._pos)
        batch = self._buffer[self._pos + self._prefix_bytes :] + piece[:missing_bytes]
        self._offset += len(self._buffer)
        self._buffer = piece
        self._pos = missing_bytes
        self._held_bytes = 0
        self._needed_bytes = 0
        return batch

    def next_batch(self) -> bytes | None:
        """The next complete batch, possibly empty, or None until more bytes are fed."""
        if self._pieces:
            if len(self._buffer) - self._pos + self._held_bytes < self._needed_bytes:
                return None
            if len(self._pieces) == 1 and self._needed_bytes > self._prefix_bytes:
                return self._complete()  # the length of this batch was read already
            self._join()
        buffer = self._buffer
        start = self._pos + self._prefix_bytes
        if len(buffer) < start:
            self._needed_bytes = self._prefix_bytes
            if self._pos == len(buffer):  # free the buffer of a silent link
                self._offset += self._pos
                self._buffer = b""
                self._pos = 0
            return None
        size = buffer[self._pos] | buffer[self._pos + 1] << 8
        if self._prefix_bytes == 4:
            size |= buffer[start - 2] << 16 | buffer[start - 1] << 24
        if size > self._limit:
            offset = self._offset + self._pos
            cause = f"{size} bytes, at most {self._limit} are agreed"
            raise WireError("batch", "length", offset, cause)
        stop = start + size
        if len(buffer) < stop:
            self._needed_bytes = self._prefix_bytes + size
            return None
        self._pos = stop
        return buffer[start:stop]

    def receive(self, data: bytes) -> list[bytes]:
        """Add bytes; returns the batches that are complete now."""
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
