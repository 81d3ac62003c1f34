"""Callbacks: sinks that call a user's function for each item (behaviour reference §2.14).

An indirect callback runs on a thread of the pool, fed by a FIFO, or on the reader of a link as
long as it is quick (see node/reader_handover.py); a direct one runs in `after_unlock`, on the
thread that brought the item. In both cases calls are made one at a time, in order, exceptions are
logged, and `drop` runs once after the last call.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from zenlake.api.handlers.callback_pool import POOL
from zenlake.api.handlers.channels import FifoChannelSink, WaitingThreads
from zenlake.limits import HANDLER_BYTES_MAX, HANDLER_ITEMS_MAX
from zenlake.node.before_waiting import before_waiting

LOGGER: Final = logging.getLogger("zenlake.handlers")

# The number of times that a slow callback runs on a thread of the pool before a reader runs it
# again. It grows each time that the callback is slow again: on a busy machine any callback may be
# slow once.
_SLOW_CALLS_MIN: Final = 16
_SLOW_CALLS_MAX: Final = 4096
# After this many calls a worker continues with another callback, if one is queued.
_CALLS_IN_A_ROW: Final = 64


class CallLock:
    """A lock that is held by the thread that runs a callback."""

    __slots__ = ("_cancellers", "_holder_id", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder_id: int | None = None
        self._cancellers: WaitingThreads | None = None

    def acquire(self, blocking: bool) -> bool:
        if not self._lock.acquire(blocking):
            return False
        self._holder_id = threading.get_ident()
        return True

    def release(self) -> None:
        self._holder_id = None
        self._lock.release()
        if self._cancellers is not None:
            self._cancellers.wake_all()

    def is_held(self) -> bool:
        return self._lock.locked()

    def is_held_here(self) -> bool:
        """Whether the current thread holds it: a callback must not wait for its own end."""
        return self._holder_id == threading.get_ident()

    def wait(self) -> None:
        """Wait until no other thread holds it."""
        cancellers = self._cancellers
        if cancellers is None:
            cancellers = self._cancellers = WaitingThreads()
        while self._lock.locked() and not self.is_held_here():
            lock = cancellers.announce()
            if self._lock.locked():
                cancellers.sleep(lock)
            else:
                cancellers.withdraw(lock)


class CallbackSink(FifoChannelSink):
    """A FIFO whose items are passed to a callback."""

    __slots__ = ("_call_lock", "_callback", "_drop", "_ended")

    def __init__(self, callback: Callable[[Any], Any], drop: Callable[[], Any] | None) -> None:
        # A blocked sender is woken when the queue is half empty, not for each item: otherwise the
        # two threads would switch after every item.
        super().__init__(HANDLER_ITEMS_MAX, HANDLER_ITEMS_MAX // 2)
        self._callback = callback
        self._drop = drop
        self._ended: Callable[[], None] | None = None
        self._call_lock = CallLock()

    def _is_due(self) -> bool:
        """Whether there is something to call."""
        if self._items:
            return True
        return self._is_closed and (self._drop is not None or self._ended is not None)

    def _call_ends(self) -> None:
        """At the end, call the user's `drop`, then the session's `on_end`."""
        if not self._is_closed or self._items:
            return
        drop, self._drop = self._drop, None
        ended, self._ended = self._ended, None
        if drop is not None:
            try:
                drop()
            except Exception:
                LOGGER.exception("callback error")
        if ended is not None:
            ended()

    def on_end(self, ended: Callable[[], None]) -> bool:
        self._ended = ended
        return True

    def discard(self) -> None:
        self._items.clear()
        self._taken_bytes = self._pushed_bytes
        self._writers.wake_all()

    def wait_for_callback(self) -> None:
        self._call_lock.wait()

    def leave_to_parent(self, text: str) -> None:
        super().leave_to_parent(text)
        self._drop = self._ended = None


class IndirectSink(CallbackSink):
    """Calls on a worker of the pool, or on the reader of a link.

    The calling thread holds `_call_lock` from the removal of the first item to the last call.
    `_scheduled` is held while the sink is queued in the pool or a worker runs it. A thread that
    releases one of the two looks for items afterwards; a thread that pushes looks at the two locks
    afterwards. So no item is left behind.
    """

    __slots__ = ("_scheduled", "_slow_calls", "_slow_calls_next")

    def __init__(self, callback: Callable[[Any], Any], drop: Callable[[], Any] | None) -> None:
        super().__init__(callback, drop)
        self._scheduled = threading.Lock()
        self._slow_calls = 0
        self._slow_calls_next = _SLOW_CALLS_MIN

    def after_unlock(self) -> None:
        if not self._items and not self._is_closed:
            return  # another thread has called for the items
        if (
            self._is_due()
            and not self._call_lock.is_held()
            and self._scheduled.acquire(blocking=False)
        ):
            POOL.submit(self)
        # A callback may publish to its own subscriber.
        if not self._call_lock.is_held_here():
            self._wait_for_room()

    def is_quick(self) -> bool:
        if self._slow_calls > 0:
            self._slow_calls -= 1
            return False
        return not self._call_lock.is_held()

    def run_on_reader(self) -> None:
        if not self._call_lock.acquire(False):
            return
        try:
            while self._items and self._slow_calls == 0:
                self._call_next()
            if self._slow_calls_next > _SLOW_CALLS_MIN and self._slow_calls == 0:
                self._slow_calls_next >>= 1
        finally:
            self._call_lock.release()

    def handed_over(self) -> None:
        self._slow_calls = self._slow_calls_next
        self._slow_calls_next = min(4 * self._slow_calls_next, _SLOW_CALLS_MAX)

    def run(self) -> None:
        """Called by a worker of the pool; `_scheduled` is held."""
        while True:
            if self._call_lock.acquire(False):
                try:
                    is_done = self._call_all()
                finally:
                    self._call_lock.release()
                if not is_done:
                    POOL.submit(self)
                    return
            self._scheduled.release()
            # If another thread holds the lock, that thread looks for items after releasing it.
            if not self._is_due() or self._call_lock.is_held():
                return
            if not self._scheduled.acquire(blocking=False):
                return

    def _call_all(self) -> bool:
        """False if other callbacks are queued and this one has had its share of calls."""
        calls = 0
        while self._items:
            calls += 1
            if calls > _CALLS_IN_A_ROW:
                if POOL.has_waiting():
                    return False
                calls = 0
            self._call_next()
        self._call_ends()
        return True

    def _call_next(self) -> None:
        """Call the callback for the next item; the caller holds `_call_lock`. Hot."""
        try:
            item = self._items.popleft()
        except IndexError:
            return  # discarded meanwhile
        if self._taken_bytes != self._pushed_bytes or self._writers:
            self._note_removed(item)
        try:
            self._callback(item)
        except BaseException:  # even SystemExit ends only this call
            LOGGER.exception("callback error")


class DirectSink(CallbackSink):
    """Calls on the thread that brought the item, or on one that runs it already.

    A callback may itself cause further items: they are delivered after it returns.
    """

    __slots__ = ()

    def after_unlock(self) -> None:
        # Checked again after each release: an item may have come just before it.
        while self._is_due():
            if not self._call_lock.acquire(False):
                if self._call_lock.is_held_here() or not self._is_too_full():
                    return
                before_waiting()
                self._call_lock.acquire(True)
            try:
                self._call()
            finally:
                self._call_lock.release()

    def _is_too_full(self) -> bool:
        count = len(self._items)
        return count > HANDLER_ITEMS_MAX or (count > 1 and self.held_bytes() > HANDLER_BYTES_MAX)

    def _call(self) -> None:
        while self._items:
            try:
                item = self._items.popleft()
            except IndexError:
                break  # discarded meanwhile
            if self._taken_bytes != self._pushed_bytes:
                self._note_removed(item)
            try:
                self._callback(item)
            except Exception:
                LOGGER.exception("callback error")
        self._call_ends()
