"""What tests of faults and abuse share: how much of it there shall be, and figures."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
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


def p99(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


def resident_bytes() -> int:
    """Memory of this process that is in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
