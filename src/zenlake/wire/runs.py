"""Runs: publications that follow each other and differ in payload and time alone.

Most of what a FRAME holds is of this kind. Bytes that were read once mean the same when they
come again in the same place, so they are compared instead of read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake._mypyc import mypyc_attr
from zenlake.gil_checkpoint import gil_checkpoint
from zenlake.wire._generated.data import Put
from zenlake.wire._generated.network import Push, decode_network
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import PushRun
from zenlake.wire.values.timestamp import Timestamp

if TYPE_CHECKING:
    from mypy_extensions import i64

# After so many messages that were no run in spite of their beginning, it is looked for again;
# twice as many each time.
_MISSED_MIN: Final = 2
_MISSED_MAX: Final = 64
# Of the nine bytes of a time, the first come first: the last four count units of eight seconds.
_CHANGING_BYTES: Final = 5
RUN_MIN: Final = 16
"""Shorter runs are read message by message: writing one anew has its price too."""

# Messages between two points where other threads may run: less than a millisecond.
_GIVE_WAY_MASK: Final = 0xFF


def decode_messages(buf: bytes, pos: i64, messages: list[NetworkMessage]) -> i64:
    """Appends network messages until something else begins; says where."""
    return _decode(buf, pos, messages, False)


def decode_runs(buf: bytes, pos: i64, messages: list[NetworkMessage]) -> i64:
    """The same, but a long run is appended as one `PushRun`."""
    return _decode(buf, pos, messages, True)


def expand_run(run: PushRun) -> list[NetworkMessage]:
    """The messages of a run, each by itself."""
    messages: list[NetworkMessage] = []
    decode_messages(run.buffer[run.start : run.stop], 0, messages)
    return messages


def _decode(buf: bytes, pos: i64, messages: list[NetworkMessage], keeps_runs: bool) -> i64:
    end: i64 = len(buf)
    missed: i64 = _MISSED_MIN
    wait: i64 = 0
    count: i64 = 0
    while pos < end and buf[pos] & 0x1F >= 0x19:
        start: i64 = pos
        message, pos = decode_network(buf, start)
        messages.append(message)
        count += 1
        if count & _GIVE_WAY_MASK == 0:
            gil_checkpoint()
        if wait > 0:
            wait -= 1
        elif (
            pos + 1 < end
            and buf[pos] == buf[start]
            and buf[pos + 1] == buf[start + 1]
            and isinstance(message, Push)
        ):
            stop: i64 = pos
            layout = _layout_of(buf, start, pos, message)
            if layout is not None:
                run = layout.find_run() if keeps_runs else None
                if run is not None:
                    messages[len(messages) - 1] = run
                    stop = run.stop
                else:
                    stop = layout.decode(messages)
            if stop == pos:
                wait = missed
                missed = min(2 * missed, _MISSED_MAX)
            pos = stop
    return pos


def _layout_of(buf: bytes, start: i64, pos: i64, first: Push) -> _Layout | None:
    """Where the parts of a publication are, which stands at `start` and ends at `pos`.

    Whatever is odd has none: it is left to the long way.
    """
    body = first.body
    if not isinstance(body, Put) or body.shm:
        return None  # slices of shared memory begin with a count, not with a length
    # Written as we would write it, or one could not say where its parts are.
    own = bytes(body)
    put_at: i64 = pos - len(own)
    size: i64 = len(body.payload)
    if size >= 0x4000 or buf[put_at:pos] != own:
        return None
    length_at: i64 = pos - size - (1 if size < 0x80 else 2)
    head_end: i64 = length_at
    if body.timestamp is not None:
        head_end = put_at + 1
        if body.timestamp.time >> 56 == 0:
            return None  # it has fewer than nine bytes
    return _Layout(buf, start, pos, first, body, head_end, length_at)


@mypyc_attr(acyclic=True)
class _Layout:
    """Of the first publication of what may be a run: where the next ones must be equal to it."""

    __slots__ = (
        "_body",
        "_buf",
        "_first",
        "_head",
        "_head_bytes",
        "_is_timed",
        "_length_offset",
        "_pos",
        "_start",
        "_tail",
        "_time_at",
    )

    def __init__(
        self,
        buf: bytes,
        start: i64,
        pos: i64,
        first: Push,
        body: Put,
        head_end: i64,
        length_at: i64,
    ) -> None:
        self._buf = buf
        self._start: i64 = start
        self._pos: i64 = pos  # after the last publication of the run
        self._time_at: i64 = 0  # of that publication
        self._first = first
        self._body = body
        self._is_timed = body.timestamp is not None
        self._head_bytes: i64 = head_end - start
        self._length_offset: i64 = length_at - start
        self._head = buf[start:head_end]
        self._tail = buf[head_end + _CHANGING_BYTES : length_at] if self._is_timed else b""

    def _next_payload(self) -> i64:
        """Where the next payload begins, -1 if the run is over; goes on to the payload's end."""
        buf = self._buf
        pos = self._pos
        at: i64 = pos + self._head_bytes
        if buf[pos:at] != self._head:
            return -1
        if self._is_timed:
            self._time_at = at
            at = pos + self._length_offset
            if buf[self._time_at + _CHANGING_BYTES : at] != self._tail:
                return -1
            if not _has_nine_bytes(buf, self._time_at):
                return -1
        end: i64 = len(buf)
        if at >= end:
            return -1
        size: i64 = buf[at]
        at += 1
        if size >= 0x80:
            if at >= end:
                return -1
            byte: i64 = buf[at]
            if byte == 0 or byte >= 0x80:
                return -1
            size = size & 0x7F | byte << 7
            at += 1
        if at + size > end:
            return -1
        self._pos = at + size
        return at

    def find_run(self) -> PushRun | None:
        """The whole run, None if it is short."""
        pos = self._pos
        count: i64 = 1
        while self._next_payload() >= 0:
            count += 1
        if count < RUN_MIN:
            self._pos = pos
            return None
        return PushRun(
            self._buf,
            self._start,
            self._pos,
            count,
            self._first,
            self._head_bytes,
            self._length_offset,
            self._is_timed,
        )

    def decode(self, messages: list[NetworkMessage]) -> i64:
        """Append the others of the run; says where it ends."""
        buf = self._buf
        first = self._first
        body = self._body
        timestamp = body.timestamp
        while True:
            at = self._next_payload()
            if at < 0:
                return self._pos
            if timestamp is not None:
                timestamp = Timestamp(0, timestamp.id, buf[self._time_at : self._time_at + 9])
            put = Put(
                buf[at : self._pos],
                timestamp,
                body.encoding,
                body.source_info,
                body.shm,
                body.attachment,
                body.extensions,
            )
            messages.append(
                Push(
                    first.key,
                    put,
                    first.qos,
                    first.timestamp,
                    first.node_id,
                    first.stamps,
                    first.extensions,
                )
            )


def _has_nine_bytes(buf: bytes, at: i64) -> bool:
    """Whether the number there has, given that its sixth to eighth byte say so."""
    return (
        at + 9 <= len(buf)
        and buf[at] & buf[at + 1] & buf[at + 2] & buf[at + 3] & buf[at + 4] >= 0x80
    )
