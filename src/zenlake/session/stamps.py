"""Records of when a message passed a point of its way (wire reference §2.4, TsStack)."""

from __future__ import annotations

from typing import Final

from zenlake.limits import TIMESTAMPS_PER_STACK_MAX
from zenlake.wire import StampRecord, Timestamp, TimestampStack
from zenlake.wire.values.timestamp import write_timestamp
from zenlake.wire.writer import BytesWriter

SEND: Final = 1
ROUTE: Final = 2
RECEIVE: Final = 4
CUSTOM: Final = 0x80


def stamped(stack: TimestampStack, point: int, time: Timestamp) -> TimestampStack:
    """The stack with a record of this point, if it asks for one and has room."""
    if not stack.points & point or len(stack.records) >= TIMESTAMPS_PER_STACK_MAX:
        return stack
    return TimestampStack(stack.points, (*stack.records, StampRecord(point, time_bytes(time))))


def custom_stamped(stack: TimestampStack, point: int, time: bytes) -> TimestampStack:
    """The same with a time in the user's own format."""
    if not stack.points & point or len(stack.records) >= TIMESTAMPS_PER_STACK_MAX:
        return stack
    return TimestampStack(stack.points, (*stack.records, StampRecord(point | CUSTOM, time)))


def time_bytes(time: Timestamp) -> bytes:
    """The standard format: a Timestamp as it lies on the wire."""
    out = BytesWriter()
    write_timestamp(out, time)
    return out.getvalue()
