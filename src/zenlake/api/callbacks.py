"""Callbacks: sinks that call a user's function for each item (behaviour reference §2.14).

An indirect callback runs on a thread of its own, fed by a FIFO, or on the reader of a link as
long as it is quick (see node/relief.py); a direct one runs in `settle`, on the thread that
brought the item. Either way calls come one after the other, in order, what
they raise is logged, and `drop` runs once after the last of them.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from zenlake.api.channels import FifoChannelSink
from zenlake.limits import HANDLER_ITEMS_MAX
from zenlake.session.sink import Sink

LOGGER: Final = logging.getLogger("zenlake.handlers")

# So many times a callback that took long runs on its own thread, before a reader tries again:
# more each time that it took long again, since a busy machine makes any callback slow at times.
_SLOW_CALLS_MIN: Final = 16
_SLOW_CALLS_MAX: Final = 4096


class IndirectSink(FifoChannelSink):
    """A FIFO whose reader is a thread: it takes all there is, calls for each, and sleeps again.

    The thread starts when it is needed. It is a daemon: it never keeps Python from exiting.
    Whoever calls, it or the reader of a link, holds `_turn` from taking items to the last call.
    """

    __slots__ = (
        "_callback",
        "_caller_id",
        "_drop",
        "_slow_calls",
        "_slow_calls_next",
        "_starting",
        "_thread_id",
        "_turn",
    )

    def __init__(self, callback: Callable[[Any], Any], drop: Callable[[], Any] | None) -> None:
        super().__init__(HANDLER_ITEMS_MAX)
        self._callback = callback
        self._drop = drop
        self._starting = threading.Lock()
        self._thread_id: int | None = None
        self._turn = threading.Lock()
        self._caller_id: int | None = None
        self._slow_calls = 0
        self._slow_calls_next = _SLOW_CALLS_MIN

    def settle(self) -> None:
        if not self._items and not self._is_closed:
            return  # called for already
        if self._thread_id is None:
            self._start()
        # A callback that feeds itself must not wait for itself.
        if self._caller_id != threading.get_ident():
            super().settle()

    def is_quick(self) -> bool:
        if self._slow_calls > 0:
            self._slow_calls -= 1
            return False
        return not self._turn.locked()

    def run_here(self) -> None:
        if not self._turn.acquire(blocking=False):
            return
        self._caller_id = threading.get_ident()
        items = self._items
        callback = self._callback
        try:
            while items and self._slow_calls == 0:
                try:
                    callback(items.popleft())
                except BaseException:  # even SystemExit ends only this call
                    LOGGER.exception("callback error")
            if self._slow_calls_next > _SLOW_CALLS_MIN and self._slow_calls == 0:
                self._slow_calls_next >>= 1
        finally:
            self._caller_id = None
            self._turn.release()

    def relieved(self) -> None:
        self._slow_calls = self._slow_calls_next
        self._slow_calls_next = min(4 * self._slow_calls_next, _SLOW_CALLS_MAX)

    def leave_to_parent(self, text: str) -> None:
        super().leave_to_parent(text)
        self._drop = None

    def _start(self) -> None:
        with self._starting:
            is_needed = self._items or (self._is_closed and self._drop is not None)
            if self._thread_id is None and is_needed:
                thread = threading.Thread(target=self._run, name="zenlake-callback", daemon=True)
                thread.start()
                self._thread_id = thread.ident

    def _run(self) -> None:
        while self.wait():
            with self._turn:
                self._caller_id = threading.get_ident()
                items = self.take_all()
                # Reversed and popped: what was delivered must not live until the next item comes.
                items.reverse()
                while items:
                    self._call(items.pop())
                self._caller_id = None
        if self._drop is not None:
            with self._turn:  # after the last call
                _run_drop(self._drop)

    def _call(self, item: object) -> None:
        try:
            self._callback(item)
        except BaseException:  # even SystemExit ends only this call
            LOGGER.exception("callback error")


class DirectSink(Sink):
    """Calls on the thread that brought the item, or on one that is calling already.

    A callback may bring further items itself: they are called for when it returned.
    """

    __slots__ = ("_callback", "_caller_id", "_drop", "_is_closed", "_items", "_turn")

    def __init__(self, callback: Callable[[Any], Any], drop: Callable[[], Any] | None) -> None:
        self._callback = callback
        self._drop = drop
        self._items: deque[object] = deque()
        self._turn = threading.Lock()
        self._caller_id: int | None = None
        self._is_closed = False

    def push(self, item: object) -> None:
        self._items.append(item)

    def push_all(self, items: list[object]) -> None:
        self._items.extend(items)

    def close(self) -> None:
        self._is_closed = True

    def leave_to_parent(self, text: str) -> None:
        self._drop = None
        self._is_closed = True
        self._items.clear()

    def settle(self) -> None:
        # Asked again after each turn: an item may have come when the turn was all but over.
        while self._items or (self._is_closed and self._drop is not None):
            if not self._turn.acquire(blocking=False):
                is_mine = self._caller_id == threading.get_ident()
                if is_mine or len(self._items) <= HANDLER_ITEMS_MAX:
                    return
                self._turn.acquire()
            self._caller_id = threading.get_ident()
            try:
                self._call()
            finally:
                self._caller_id = None
                self._turn.release()

    def _call(self) -> None:
        while self._items:
            try:
                self._callback(self._items.popleft())
            except Exception:
                LOGGER.exception("callback error")
        if self._is_closed and not self._items and self._drop is not None:
            drop, self._drop = self._drop, None
            _run_drop(drop)


def _run_drop(drop: Callable[[], Any]) -> None:
    try:
        drop()
    except Exception:
        LOGGER.exception("callback error")
