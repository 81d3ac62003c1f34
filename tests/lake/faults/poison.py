"""Captures with values that are hard to store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.chance import IS_FULL
from tests.lake.faults.conversation import Conversation, store
from zenlake.limits import KEY_EXPR_BYTES_MAX, TRACE_MESSAGE_BYTES_MAX
from zenlake.wire import Push, Put, Query, Request, Timestamp, WireExpr, ZenohId

U32_MAX: Final = (1 << 32) - 1
U64_MAX: Final = (1 << 64) - 1
LATEST_US: Final = (1 << 63) // 1_000 - 1_000
"""In 2262; later times exceed 63 bits of nanoseconds."""
YEAR_9999_US: Final = 253_402_300_799 * 1_000_000
LONG_KEY: Final = "k" * KEY_EXPR_BYTES_MAX
LARGE_BYTES: Final = TRACE_MESSAGE_BYTES_MAX - 1_000 if IS_FULL else 1 << 20
_NODE: Final = ZenohId(b"\x0c")


def put(key: str, payload: bytes = b"good", timestamp: Timestamp | None = None) -> Push:
    return Push(WireExpr(0, key), Put(payload, timestamp))


def poisoned(path: Path) -> None:
    made = Conversation(lease_s=U64_MAX)
    made.send(put("first"))
    made.send(put(LONG_KEY))
    made.send(put("ntp", timestamp=Timestamp(U64_MAX, _NODE)))
    made.send(Request(U32_MAX, WireExpr(0, "asked"), Query(), timeout_ms=U64_MAX))
    made.send_in_fragments(put("large", bytes(LARGE_BYTES)))
    made.time_us = LATEST_US
    made.send(put("in 2262"))
    made.time_us = 0
    made.send(put("in 1970"))
    store(path, made.blocks)


def far_away(path: Path) -> None:
    """Packets at times that nanoseconds cannot represent, the last ones of their connection."""
    made = Conversation()
    made.send(put("before"))
    for time_us in (LATEST_US + 1_000_000, YEAR_9999_US, U64_MAX):
        made.time_us = time_us
        made.send(put("far away"))
    store(path, made.blocks)


def too_large(path: Path) -> None:
    """A message that exceeds the limit of every receiver, and one after it."""
    made = Conversation()
    made.send_in_fragments(put("too large", bytes(TRACE_MESSAGE_BYTES_MAX)))
    made.send(put("last"))
    store(path, made.blocks)
