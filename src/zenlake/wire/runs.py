"""Runs: publications that follow each other and differ in payload and time alone.

Most messages of a FRAME are of this kind. Bytes that equal those of the first publication in the
same place mean the same, so they are compared instead of decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake._mypyc import mypyc_attr
from zenlake.gil_checkpoint import CHECKPOINT_MASK, gil_checkpoint
from zenlake.wire._generated.data import Put
from zenlake.wire._generated.network import Push, decode_network
from zenlake.wire.headers import ID_BITS, NETWORK_ID_MIN
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import PushRun
from zenlake.wire.values.timestamp import Timestamp

if TYPE_CHECKING:
    from mypy_extensions import i64

# How many messages are decoded after a failed attempt to find a run, before the next attempt. The
# number doubles each time.
_MISSED_MIN: Final = 2
_MISSED_MAX: Final = 64
# The nine bytes of a time are little-endian: the last four count units of eight seconds.
_CHANGING_BYTES: Final = 5
RUN_MIN: Final = 16
"""Shorter runs are decoded message by message: rewriting a run has a fixed cost."""


def decode_messages(buf: bytes, pos: i64, messages: list[NetworkMessage]) -> i64:
    """Append network messages until something else begins; returns its position."""
    return _decode(buf, pos, messages, False)


def decode_runs(buf: bytes, pos: i64, messages: list[NetworkMessage]) -> i64:
    """Append network messages as `decode_messages` does, but a long run as one `PushRun`."""
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
    while pos < end and buf[pos] & ID_BITS >= NETWORK_ID_MIN:
        start: i64 = pos
        message, pos = decode_network(buf, start)
        messages.append(message)
        count += 1
        if count & CHECKPOINT_MASK == 0:
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
    """Where the parts of the publication in `buf[start:pos]` are.

    None if its form is unusual: the messages after it are decoded one by one.
    """
    body = first.body
    if not isinstance(body, Put) or body.shm:
        return None  # slices of shared memory begin with a count, not with a length
    # The positions of its parts are known only if its encoding is the same as this node's.
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
            return None  # the time has fewer than nine bytes
    return _Layout(buf, start, pos, first, body, head_end, length_at)


@mypyc_attr(acyclic=True)
class _Layout:
    """The first publication of a possible run, and which bytes of the next ones must equal it."""

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
        self._pos: i64 = pos  # the end of the last publication of the run
        self._time_at: i64 = 0  # where that publication has its time
        self._first = first
        self._body = body
        self._is_timed = body.timestamp is not None
        self._head_bytes: i64 = head_end - start
        self._length_offset: i64 = length_at - start
        self._head = buf[start:head_end]
        self._tail = buf[head_end + _CHANGING_BYTES : length_at] if self._is_timed else b""

    def _next_payload(self) -> i64:
        """Where the next payload begins, -1 if the run is over; advances to the payload's end."""
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
        """Append the other publications of the run; returns where it ends."""
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
            put = body.copy()
            put.payload = buf[at : self._pos]
            put.timestamp = timestamp
            push = first.copy()
            push.body = put
            messages.append(push)


def _has_nine_bytes(buf: bytes, at: i64) -> bool:
    """Whether the number at a position has nine bytes; bytes six to eight are known to continue."""
    return (
        at + 9 <= len(buf)
        and buf[at] & buf[at + 1] & buf[at + 2] & buf[at + 3] & buf[at + 4] >= 0x80
    )
