"""Threads that end: what `Node.close` does with each of them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable


def join_thread(thread: threading.Thread | None, timeout_s: float) -> None:
    """Wait for a thread, unless it never started or is the one that asks."""
    if thread is None or thread.ident is None or thread is threading.current_thread():
        return
    # One whose `start` was interrupted may not know yet that it runs.
    with contextlib.suppress(RuntimeError):
        thread.join(max(0.0, timeout_s))


def join_threads(threads: Iterable[threading.Thread], timeout_s: float) -> None:
    """All of them within the time."""
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        join_thread(thread, deadline - time.monotonic())
