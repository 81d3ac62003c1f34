"""Runs: publications that follow each other and differ in payload and time alone.

Most of what a FRAME holds is of this kind. Bytes that were read once mean the same when they
come again in the same place, so they are compared instead of read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.give_way import give_way
from zenlake.wire._generated.data import Put
from zenlake.wire._generated.network import Push, decode_network
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.timestamp import Timestamp

if TYPE_CHECKING:
    from mypy_extensions import i64

# After so many messages that were no run in spite of their beginning, it is looked for again;
# twice as many each time.
_MISSED_MIN: Final = 2
_MISSED_MAX: Final = 64
# Of the nine bytes of a time, the first come first: the last four count units of eight seconds.
_CHANGING_BYTES: Final = 5
# Messages between two points where other threads may run: less than a millisecond.
_GIVE_WAY_MASK: Final = 0xFF


def decode_messages(buf: bytes, pos: i64, messages: list[NetworkMessage]) -> i64:
    """Appends network messages until something else begins; says where."""
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
            give_way()
        if wait > 0:
            wait -= 1
        elif (
            pos + 1 < end
            and buf[pos] == buf[start]
            and buf[pos + 1] == buf[start + 1]
            and isinstance(message, Push)
        ):
            stop = _decode_run(buf, start, pos, message, messages)
            if stop == pos:
                wait = missed
                missed = min(2 * missed, _MISSED_MAX)
            pos = stop
    return pos


def _decode_run(
    buf: bytes, start: i64, pos: i64, first: Push, messages: list[NetworkMessage]
) -> i64:
    """Those like `first`, which stands at `start`. Whatever is odd is left to the long way."""
    body = first.body
    if not isinstance(body, Put) or body.shm:
        return pos  # slices of shared memory begin with a count, not with a length
    # Written as we would write it, or one could not say where its parts are.
    own = bytes(body)
    put_at: i64 = pos - len(own)
    size: i64 = len(body.payload)
    if size >= 0x4000 or buf[put_at:pos] != own:
        return pos
    length_at: i64 = pos - size - (1 if size < 0x80 else 2)
    timestamp = body.timestamp
    head_end: i64 = length_at
    tail_at: i64 = length_at
    if timestamp is not None:
        head_end = put_at + 1
        if timestamp.time >> 56 == 0:
            return pos  # it has fewer than nine bytes
        tail_at = head_end + _CHANGING_BYTES
    head = buf[start:head_end]
    tail = buf[tail_at:length_at]
    end: i64 = len(buf)
    while True:
        at: i64 = pos + head_end - start
        if buf[pos:at] != head:
            break
        if timestamp is not None:
            time_at: i64 = at
            at += length_at - head_end
            if buf[time_at + _CHANGING_BYTES : at] != tail or not _has_nine_bytes(buf, time_at):
                break
            timestamp = Timestamp(0, timestamp.id, buf[time_at : time_at + 9])
        if at + 1 >= end:
            break
        size = buf[at]
        at += 1
        if size >= 0x80:
            byte = buf[at]
            if byte == 0 or byte >= 0x80:
                break
            size = size & 0x7F | byte << 7
            at += 1
        if at + size > end:
            break
        pos = at + size
        put = Put(
            buf[at:pos],
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
    return pos


def _has_nine_bytes(buf: bytes, at: i64) -> bool:
    """Whether the number there has, given that its sixth to eighth byte say so."""
    return (
        at + 9 <= len(buf)
        and buf[at] & buf[at + 1] & buf[at + 2] & buf[at + 3] & buf[at + 4] >= 0x80
    )
