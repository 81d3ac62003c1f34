"""Checks that a test leaves no threads and sockets of zenlake behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


def open_sockets() -> int:
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except OSError:
            continue
    return count


def own_threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name.startswith("zenlake")}


@contextmanager
def nothing_left(timeout_s: float = 2.0) -> Iterator[None]:
    """Assert at the end that there are no more sockets than before, and no new thread."""
    before, known = open_sockets(), own_threads()
    yield
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and (own_threads() - known or open_sockets() > before):
        time.sleep(0.01)
    assert own_threads() <= known
    assert open_sockets() <= before
