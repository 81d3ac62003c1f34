"""`PushRun`: undecoded consecutive publications that differ only in payload and time.

A router that forwards them needs their payloads only as bytes. So they stay in the received batch;
the first one is decoded, and the others are rewritten for each neighbour with another head
(`portions`). `runs.decode_runs` makes a run, `runs.expand_run` decodes it.

    first   PUSH header, key, extensions, PUT header | time | id, encoding, ... | length, payload
            `---------------- head ----------------'                           ^ length_offset
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from zenlake._mypyc import mypyc_attr
from zenlake.wire._generated.network import Push
from zenlake.wire.message import NetworkMessage
from zenlake.wire.primitives import read_z64, write_z64
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

_BYTES: Final = [bytes([value]) for value in range(256)]


@mypyc_attr(acyclic=True)
class Portion:
    """Some complete messages, encoded."""

    __slots__ = ("count", "data")

    def __init__(self, data: bytes, count: int) -> None:
        self.data = data
        self.count = count


@mypyc_attr(acyclic=True)
class _PortionWriter:
    """Divides messages into portions; parts are joined once, so that each is copied once."""

    __slots__ = ("_bytes_max", "_count", "_made", "_next_bytes_max", "_parts", "_size")

    def __init__(self, first_bytes_max: i64, bytes_max: i64) -> None:
        self._bytes_max: i64 = first_bytes_max
        self._next_bytes_max: i64 = bytes_max
        self._made: list[Portion] = []
        self._parts: list[bytes] = []
        self._count: i64 = 0
        self._size: i64 = 0

    def begin(self, size: i64) -> list[bytes]:
        """The list for the parts of the next message, which has `size` bytes."""
        if self._size + size > self._bytes_max:
            if self._count > 0:
                self._made.append(Portion(b"".join(self._parts), self._count))
                self._parts = []
                self._count = 0
                self._size = 0
            self._bytes_max = self._next_bytes_max
        self._count += 1
        self._size += size
        return self._parts

    def finish(self) -> list[Portion]:
        self._made.append(Portion(b"".join(self._parts), self._count))
        return self._made


@mypyc_attr(acyclic=True)
class PushRun(NetworkMessage):
    """`count` messages in `buffer[start:stop]`. Payloads have less than 16 KiB."""

    __slots__ = (
        "buffer",
        "count",
        "first",
        "head_bytes",
        "is_timed",
        "length_offset",
        "start",
        "stop",
    )
    FIELDS: ClassVar[tuple[str, ...]] = ("first", "count")

    def __init__(
        self,
        buffer: bytes,
        start: i64,
        stop: i64,
        count: i64,
        first: Push,
        head_bytes: i64,
        length_offset: i64,
        is_timed: bool,
    ) -> None:
        self.buffer = buffer
        self.start: i64 = start
        self.stop: i64 = stop
        self.count: i64 = count
        self.first = first
        self.head_bytes: i64 = head_bytes
        """The bytes of each message before its time or, if it has no time, before its length."""

        self.length_offset: i64 = length_offset
        self.is_timed = is_timed

    def encode(self, out: BytesWriter) -> None:
        out.write(self.buffer[self.start : self.stop])

    def times(self) -> list[int]:
        """The time of each message of a timed run."""
        buffer = self.buffer
        found: list[int] = []
        pos = self.start
        while pos < self.stop:
            time, _ = read_z64(buffer, pos + self.head_bytes, self.stop)
            found.append(time)
            pos = self._end(pos)
        return found

    def portions(self, head: bytes, first_bytes_max: i64, bytes_max: i64) -> list[Portion]:
        """The messages with another head, as many in each portion as fit, but at least one.

        The first portion is shorter, or left out if it would hold none.
        """
        if head == self.buffer[self.start : self.start + self.head_bytes]:
            return self._same_portions(first_bytes_max, bytes_max)
        writer = _PortionWriter(first_bytes_max, bytes_max)
        pos = self.start
        while pos < self.stop:
            rest = self.buffer[pos + self.head_bytes : self._end(pos)]
            pos = pos + self.head_bytes + len(rest)
            parts = writer.begin(len(head) + len(rest))
            parts.append(head)
            parts.append(rest)
        return writer.finish()

    def _same_portions(self, first_bytes_max: i64, bytes_max: i64) -> list[Portion]:
        """The messages unchanged: slices of the buffer."""
        made: list[Portion] = []
        limit = first_bytes_max
        count: i64 = 0
        first = self.start
        pos = self.start
        while pos < self.stop:
            end = self._end(pos)
            if end - first > limit:
                if count > 0:
                    made.append(Portion(self.buffer[first:pos], count))
                    first = pos
                    count = 0
                limit = bytes_max
            count += 1
            pos = end
        made.append(Portion(self.buffer[first : self.stop], count))
        return made

    def stamped_portions(
        self, head: bytes, time: int, middle: bytes, first_bytes_max: i64, bytes_max: i64
    ) -> list[Portion]:
        """The messages with new times: `time` for the first, and one more for each next message.

        `head` ends before the time, `middle` is what follows it up to the length.
        """
        writer = _PortionWriter(first_bytes_max, bytes_max)
        high = time >> 7
        low: i64 = time & 0x7F
        after = _after_low_bits(high) + middle
        flag: i64 = 0x80 if high else 0
        pos = self.start
        while pos < self.stop:
            rest = self.buffer[pos + self.length_offset : self._end(pos)]
            pos = pos + self.length_offset + len(rest)
            parts = writer.begin(len(head) + 1 + len(after) + len(rest))
            parts.append(head)
            parts.append(_BYTES[low | flag])
            parts.append(after)
            parts.append(rest)
            low += 1
            if low == 0x80:
                low = 0
                high += 1
                after = _after_low_bits(high) + middle
                flag = 0x80
        return writer.finish()

    def _end(self, pos: i64) -> i64:
        """Where the message at a position ends."""
        buffer = self.buffer
        at: i64 = pos + self.length_offset
        size: i64 = buffer[at]
        if size >= 0x80:
            at += 1
            high: i64 = buffer[at]
            size = size & 0x7F | high << 7
        return at + 1 + size


def _after_low_bits(high: int) -> bytes:
    """The bytes of a time after the first one, which holds its seven lowest bits."""
    out = BytesWriter()
    write_z64(out, high << 7)
    return out.getvalue()[1:]
