"""Where chance begins: at the same place each time, so that a run says something of the code.

`make test-full` begins anywhere, and ZENLAKE_SEED where it says.
"""

from __future__ import annotations

import os
from random import Random

IS_FULL = os.environ.get("ZENLAKE_FULL") == "1"


def first_seed() -> int:
    """For whoever takes many, one after the other; a test that fails must print it."""
    told = os.environ.get("ZENLAKE_SEED")
    if told:
        return int(told)
    return Random().randrange(1 << 30) if IS_FULL else 1
