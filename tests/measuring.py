"""Times and memory that tests measure."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20


def least(measure: Callable[[], float], enough_s: float, tries: int = 10) -> float:
    """The shortest of several times, for limits that may be exceeded on a busy machine.

    Slow code is slow each time; the measurement ends with the first time below `enough_s`.
    """
    took_s = measure()
    for _ in range(tries - 1):
        if took_s < enough_s:
            break
        took_s = min(took_s, measure())
    return took_s


@contextmanager
def traced_memory() -> Iterator[None]:
    """Trace allocations in a block, for `tracemalloc.get_traced_memory`."""
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def resident_bytes() -> int:
    """The resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
