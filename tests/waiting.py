"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sized

PATIENCE_S = 20.0
_PAUSE_S = 0.001
_PAUSE_MAX_S = 0.02
_SHARE = 20
"""A wait is longer by a twentieth at most than the condition needed."""


def pauses() -> Iterator[float]:
    """Sleeps, and returns the seconds since the start: short pauses at first, longer ones later,
    because looking 500 times a second for seconds would take a processor from the other tests."""
    began = time.monotonic()
    while True:
        waited = time.monotonic() - began
        yield waited
        time.sleep(min(max(_PAUSE_S, waited / _SHARE), _PAUSE_MAX_S))


def until(is_done: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    for waited in pauses():
        if is_done():
            return
        assert waited < patience_s, "the condition did not become true in time"


def holds(is_so: Callable[[], object], seconds: float) -> None:
    """Assert that a condition is true for so long: that something does not happen."""
    for waited in pauses():
        assert is_so(), "the condition became false"
        if waited >= seconds:
            return


def until_more(items: Sized, than: int, patience_s: float = PATIENCE_S) -> None:
    until(lambda: len(items) > than, patience_s)
