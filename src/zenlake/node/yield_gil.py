"""Pauses of threads that work for long: others run meanwhile.

Compiled code keeps Python's own lock. To release that for a moment is worse than to keep it. A
thread that waits for it is woken, comes too late, and begins anew to wait the 5 ms after which it
would be given the lock. So it is released for as long as a thread needs to wake.
"""

from __future__ import annotations

from time import sleep
from typing import Final

BUSY_S_MAX: Final = 0.002
"""A thread that has worked for so long makes a pause."""
_PAUSE_S: Final = 0.0001


def yield_gil() -> None:
    """Let others run."""
    sleep(_PAUSE_S)
