"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Sized

PATIENCE_S = 20.0


def until(is_done: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not is_done():
        assert time.monotonic() < deadline, "the condition did not become true in time"
        time.sleep(0.001)


def holds(is_so: Callable[[], object], seconds: float) -> None:
    """Assert that a condition is true for so long: that something does not happen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert is_so(), "the condition became false"
        time.sleep(0.002)
    assert is_so(), "the condition became false"


def until_more(items: Sized, than: int, patience_s: float = PATIENCE_S) -> None:
    until(lambda: len(items) > than, patience_s)
