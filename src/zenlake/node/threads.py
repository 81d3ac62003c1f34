"""Starting threads without waiting for them, and waiting for their end."""

from __future__ import annotations

import _thread
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from zenlake.errors import ZenlakeError
from zenlake.warning_limiter import WarningLimiter

log = logging.getLogger("zenlake")

_WARNINGS: Final = WarningLimiter()
_WARNING: Final = "the system has no more threads"


class ThreadError(ZenlakeError):
    """A thread cannot be started: the system has no more, or no memory for one."""


def start_thread(thread: threading.Thread) -> None:
    """Start a thread; if that fails, log a warning and raise ThreadError."""
    try:
        thread.start()
    except (RuntimeError, MemoryError) as error:
        # The limiter is not safe for threads; the worst case is a second warning.
        more = _WARNINGS.admit(_WARNING, time.monotonic())
        if more is not None:
            log.warning("%s: %r cannot start: %s%s", _WARNING, thread.name, error, more)
        raise ThreadError(f"{thread.name}: {error}") from error


def join_thread(thread: threading.Thread | None, timeout_s: float) -> None:
    """Wait for a thread, unless it never started or is the calling one."""
    if thread is None or thread.ident is None or thread is threading.current_thread():
        return
    # A thread whose `start` was interrupted raises RuntimeError, although it may run.
    with contextlib.suppress(RuntimeError):
        thread.join(max(0.0, timeout_s))


def start_soon(thread: threading.Thread, failed: Callable[[], None]) -> None:
    """Start a thread without waiting until it runs, which on a busy machine takes long.

    `failed` is called, perhaps by another thread, if the system has no more threads.
    """

    def start() -> None:
        try:
            thread.start()
        except RuntimeError:
            failed()

    try:
        _thread.start_new_thread(start, ())
    except RuntimeError:
        failed()


class ThreadOwner:
    """An object with a thread of its own, which executes `_run`."""

    def __init__(self, thread_name: str) -> None:
        self._thread = threading.Thread(target=self._run, name=thread_name, daemon=True)

    def start(self) -> None:
        start_thread(self._thread)

    def join(self, timeout_s: float) -> None:
        join_thread(self._thread, timeout_s)

    def _run(self) -> None:
        raise NotImplementedError


def join_threads(threads: Iterable[threading.Thread], timeout_s: float) -> None:
    """Wait for all threads, for that long altogether."""
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        join_thread(thread, deadline - time.monotonic())
