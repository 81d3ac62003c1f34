"""Releasing the GIL in threads that work for long.

Compiled code keeps the GIL. To release it for an instant is worse than to keep it: a thread that
waits for it wakes up too late, and begins anew to wait the 5 ms after which it would get the GIL.
So it is released for as long as a thread needs to wake.
"""

from __future__ import annotations

from time import sleep
from typing import Final

BUSY_S_MAX: Final = 0.002
"""A thread that has worked for this long releases the GIL."""
_PAUSE_S: Final = 0.0001


def yield_gil() -> None:
    """Let other threads run."""
    sleep(_PAUSE_S)
