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


def until_more(items: Sized, than: int, patience_s: float = PATIENCE_S) -> None:
    until(lambda: len(items) > than, patience_s)
