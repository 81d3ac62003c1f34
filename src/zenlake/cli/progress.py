"""The progress line of a long capture, on a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from zenlake.capture.recordings import is_recording, recording_bytes
from zenlake.trace import Trace
from zenlake.trace.events import TraceEvent
from zenlake.trace.links.connection import LinkItem

_Part = TypeVar("_Part")

_EVENTS_BETWEEN_LOOKS: Final = 4_096
_SECONDS_BETWEEN_LINES: Final = 0.5
_ERASE: Final = "\r\x1b[K"


def watched(trace: Trace, paths: list[str]) -> Iterator[TraceEvent]:
    """The events of the trace; shows progress."""
    # Messages that are printed on the terminal show the progress already.
    for events in watched_chunks(trace, paths, is_shown=not sys.stdout.isatty()):
        yield from events


def watched_chunks(
    trace: Trace, paths: list[str], is_shown: bool = True
) -> Iterator[list[TraceEvent]]:
    """Events in chunks; shows progress if standard error is a terminal."""
    if not is_shown or not sys.stderr.isatty():
        return trace.chunks()
    return _watched(trace, paths, trace.chunks(), len)


def watched_steps(
    trace: Trace, paths: list[str], is_shown: bool = True
) -> Iterator[tuple[LinkItem, list[TraceEvent]]]:
    """Like `watched_chunks`, for `Trace.steps`."""
    if not is_shown or not sys.stderr.isatty():
        return trace.steps()
    return _watched(trace, paths, trace.steps(), lambda step: len(step[1]))


def _watched(
    trace: Trace, paths: list[str], parts: Iterator[_Part], size: Callable[[_Part], int]
) -> Iterator[_Part]:
    total_bytes = _total_bytes(paths)
    start = shown = time.monotonic()
    count = looked = 0
    try:
        for part in parts:
            count += size(part)
            yield part
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
    """The size of the input; 0 if it is unknown: for standard input and compressed files."""
    if any(path == "-" or path.endswith((".gz", ".zst")) for path in paths):
        return 0
    files = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    return files + sum(recording_bytes(path) for path in paths if is_recording(path))
