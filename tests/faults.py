"""What tests of faults and abuse share: how much of it there shall be, and figures."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

FULL = os.environ.get("ZENLAKE_FULL") == "1"
MIB = 1 << 20


def scaled(by_default: int, in_full: int) -> int:
    """A count: all of it with ZENLAKE_FULL=1."""
    return in_full if FULL else by_default


def seeded() -> random.Random:
    """Chance whose seed is shown when a test fails; ZENLAKE_SEED replays it."""
    seed = int(os.environ.get("ZENLAKE_SEED") or random.randrange(1 << 32))
    print(f"ZENLAKE_SEED={seed}")
    return random.Random(seed)


def least(measure: Callable[[], float], enough_s: float, tries: int = 10) -> float:
    """The shortest of several times, for bounds that a machine with other work cannot always keep.

    What is slow by itself is slow each time; the measuring ends with the first that is enough.
    """
    took_s = measure()
    for _ in range(tries - 1):
        if took_s < enough_s:
            break
        took_s = min(took_s, measure())
    return took_s


def resident_bytes() -> int:
    """Memory of this process that is in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
