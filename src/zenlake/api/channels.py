"""Channels: sinks that a user reads, a bounded FIFO and a ring (behaviour reference §2.14).

`push` only appends, under the node's lock. Everything that may take time happens in `settle`,
outside that lock: waking readers, once per burst however many items it brought, and waiting
while a FIFO is fuller than its capacity, which holds back the link that fills it.

A reader that finds nothing announces that it sleeps *before* it looks again, and a writer looks
for sleepers *after* it appended: so one of the two always sees the other.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Final

from zenlake.errors import ZError
from zenlake.limits import HANDLER_ITEMS_MAX
from zenlake.session.sink import Sink

# Waiting without a limit is interrupted by Ctrl-C on POSIX only.
_WAIT_S: Final = None if os.name == "posix" else 0.1


class Channel(Sink):
    """Items on their way to one or more readers; this class keeps them all."""

    __slots__ = ("_changed", "_has_sleepers", "_is_abandoned", "_is_closed", "_items")

    def __init__(self, items: deque[object]) -> None:
        self._items = items
        # Reentrant, because the collector may abandon a channel while this thread wakes it.
        self._changed = threading.Condition(threading.RLock())
        self._has_sleepers = False
        self._is_closed = False
        self._is_abandoned = False

    def push(self, item: object) -> None:
        if not self._is_abandoned:
            self._items.append(item)

    def close(self) -> None:
        self._is_closed = True

    def settle(self) -> None:
        if self._has_sleepers and (self._items or self._is_closed):
            self._wake()

    def abandon(self) -> None:
        """Nobody will read any more: what comes is dropped, and nothing waits for room."""
        self._is_abandoned = True
        self._items.clear()
        self._wake()

    def _wake(self) -> None:
        with self._changed:
            self._has_sleepers = False
            self._changed.notify_all()

    def try_take(self) -> object | None:
        """The oldest item, None if there is none now; `ZError` if there will be none."""
        # Asked before looking: what was pushed before closing is still there to be found.
        is_closed = self._is_closed
        try:
            item = self._items.popleft()
        except IndexError:
            if is_closed:
                raise ZError("channel is empty and closed") from None
            return None
        self._taken()
        return item

    def take(self) -> object:
        """The oldest item, as soon as there is one; `ZError` if there will be none."""
        while True:
            is_closed = self._is_closed
            try:
                item = self._items.popleft()
            except IndexError:
                if is_closed:
                    raise ZError("channel is empty and closed") from None
                self._sleep()
            else:
                self._taken()
                return item

    def _sleep(self) -> None:
        """Wait until there are items or the end."""
        with self._changed:
            while not self._items and not self._is_closed:
                self._has_sleepers = True
                if self._items or self._is_closed:
                    break
                self._changed.wait(_WAIT_S)

    def _taken(self) -> None:
        """An item was taken."""


class RingChannelSink(Channel):
    """Keeps the newest items, drops the oldest."""

    __slots__ = ()

    def __init__(self, capacity: int) -> None:
        super().__init__(deque(maxlen=max(1, capacity)))


class FifoChannelSink(Channel):
    """Loses nothing: whoever brings more than `capacity` waits in `settle`."""

    __slots__ = ("_capacity", "_has_waiters")

    def __init__(self, capacity: int = HANDLER_ITEMS_MAX) -> None:
        super().__init__(deque())
        self._capacity = capacity
        self._has_waiters = False

    def settle(self) -> None:
        if self._has_sleepers and (self._items or self._is_closed):
            self._wake()
        if self._has_waiters and self._is_closed:
            self._wake()
        if len(self._items) > self._capacity:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        with self._changed:
            while self._is_too_full():
                self._has_waiters = True
                if not self._is_too_full():
                    break
                self._changed.wait(_WAIT_S)

    def _is_too_full(self) -> bool:
        return len(self._items) > self._capacity and not self._is_closed and not self._is_abandoned

    def _wake(self) -> None:
        self._has_waiters = False
        super()._wake()

    def _taken(self) -> None:
        if self._has_waiters and len(self._items) <= self._capacity:
            self._wake()

    def take_all(self) -> list[object] | None:
        """All items, as soon as there are some; None at the end. For one reader only."""
        while True:
            is_closed = self._is_closed
            items = self._items
            if items:
                taken = [items.popleft() for _ in range(len(items))]
                self._taken()
                return taken
            if is_closed:
                return None
            self._sleep()
