"""Progress: one line on a terminal that says how far a long capture has been read."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import Final

from zenlake.trace import Trace
from zenlake.trace.events import TraceEvent

_EVENTS_BETWEEN_LOOKS: Final = 4_096
_SECONDS_BETWEEN_LINES: Final = 0.5
_ERASE: Final = "\r\x1b[K"


def watched(trace: Trace, paths: list[str]) -> Iterator[TraceEvent]:
    """The events of the trace, with progress."""
    for events in watched_chunks(trace, paths):
        yield from events


def watched_chunks(trace: Trace, paths: list[str]) -> Iterator[list[TraceEvent]]:
    """Events in chunks; where standard error is a terminal, progress is shown there."""
    # On one terminal, lines of messages say well enough that something happens.
    if not sys.stderr.isatty() or sys.stdout.isatty():
        return trace.chunks()
    return _watched(trace, _total_bytes(paths))


def _watched(trace: Trace, total_bytes: int) -> Iterator[list[TraceEvent]]:
    start = shown = time.monotonic()
    count = looked = 0
    try:
        for events in trace.chunks():
            yield events
            count += len(events)
            if count - looked < _EVENTS_BETWEEN_LOOKS:
                continue
            looked = count
            now = time.monotonic()
            if now - shown >= _SECONDS_BETWEEN_LINES:
                shown = now
                line = progress_line(trace.bytes_read, total_bytes, count, now - start)
                sys.stderr.write(_ERASE + line)
                sys.stderr.flush()
    finally:
        if shown != start:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()


def progress_line(bytes_read: int, total_bytes: int, count: int, seconds: float) -> str:
    part = f"{min(100, 100 * bytes_read // total_bytes)} %, " if total_bytes else ""
    read = f"{bytes_read / 1_000_000:,.1f} MB"
    return f"{part}{read}, {count:,} messages, {count / seconds:,.0f} messages/s"


def _total_bytes(paths: list[str]) -> int:
    """0 where it cannot be told: of standard input, or of what is compressed."""
    if any(path == "-" or path.endswith((".gz", ".zst")) for path in paths):
        return 0
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
