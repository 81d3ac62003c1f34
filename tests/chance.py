"""Seeds of random tests: fixed by default, so that a failure is caused by a change of the code.

`make test-full` uses a random seed; the environment variable ZENLAKE_SEED sets one.
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
    """A random generator whose seed is printed if the test fails."""
    seed = first_seed()
    print(f"ZENLAKE_SEED={seed}")
    return Random(seed)
