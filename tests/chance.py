"""Seeds and counts of random tests.

Seeds are fixed by default, so that a failure is caused by a change of the code.
`make test-full` uses a random seed and larger counts; the environment variable ZENLAKE_SEED sets a
seed.
"""

from __future__ import annotations

import os
from random import Random

IS_FULL = os.environ.get("ZENLAKE_FULL") == "1"


def first_seed() -> int:
    """The first of consecutive seeds; a test that fails must print its seed."""
    seed = os.environ.get("ZENLAKE_SEED")
    if seed:
        return int(seed)
    return Random().randrange(1 << 30) if IS_FULL else 1


def seeded() -> Random:
    """A random generator, whose seed is printed if the test fails."""
    seed = first_seed()
    print(f"ZENLAKE_SEED={seed}")
    return Random(seed)


def scaled(by_default: int, in_full: int) -> int:
    """A count: `in_full` with ZENLAKE_FULL=1, else `by_default`."""
    return in_full if IS_FULL else by_default
