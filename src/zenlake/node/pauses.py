"""Pauses of threads that work for long: others run meanwhile.

Compiled code keeps Python's own lock. To release that for a moment is worse than to keep it. A
thread that waits for it is woken, comes too late, and begins anew to wait the 5 ms after which it
would be given the lock. So it is released for as long as a thread needs to wake.
"""

from __future__ import annotations

from time import monotonic, sleep
from typing import Final

_PAUSE_S: Final = 0.0001
BUSY_S_MAX: Final = 0.002


def pause() -> float:
    """Let others run; when this ended."""
    sleep(_PAUSE_S)
    return monotonic()


def pause_if_busy(paused_at: float) -> float:
    """A pause if the last one, which ended at `paused_at`, is long ago; when the last one ended."""
    return pause() if monotonic() - paused_at > BUSY_S_MAX else paused_at
