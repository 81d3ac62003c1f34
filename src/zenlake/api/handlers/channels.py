"""Channels: sinks that a user reads, a bounded FIFO and a ring (behaviour reference §2.14).

A channel is full when it holds `capacity` items, or more than `HANDLER_BYTES_MAX` bytes; there is
always room for one item.

`push` only appends, under the node's lock. Everything that may take time happens in
`after_unlock`, outside that lock: waking readers, once per burst of items, and blocking while a
FIFO is full, which holds back the link that fills it.

A reader that finds no item registers as waiting *before* it looks again, and a writer looks for
waiting readers *after* it appended. So a wakeup is never lost.
"""

from __future__ import annotations

import os
from collections import deque
from threading import Lock
from typing import Final

from zenlake.api.handlers.item_bytes import item_bytes
from zenlake.errors import ZError
from zenlake.forks import InheritedError
from zenlake.limits import HANDLER_BYTES_MAX
from zenlake.node.before_waiting import before_waiting
from zenlake.session.sink import Sink

_POLL_S: Final = -1.0 if os.name == "posix" else 0.1


class WaitingThreads:
    """Threads that wait for a change, with one lock each: the fastest way to wake a thread.

    A waiting thread calls `announce`, checks its condition again, and then calls `sleep` or
    `withdraw`; a thread that changed the state calls `wake_all`. The list needs no lock of its
    own, so that finalizers may use it.
    """

    __slots__ = ("_locks",)

    def __init__(self) -> None:
        self._locks: list[Lock] = []

    def announce(self) -> Lock:
        lock = Lock()
        lock.acquire()
        self._locks.append(lock)
        return lock

    def withdraw(self, lock: Lock) -> None:
        try:
            self._locks.remove(lock)
        except ValueError:
            return  # woken already

    def sleep(self, lock: Lock) -> None:
        """Wait for `wake_all`; Ctrl-C ends the waiting too."""
        before_waiting()
        try:
            # Without a timeout, Ctrl-C interrupts `acquire` on POSIX only.
            while not lock.acquire(timeout=_POLL_S):
                pass
        except BaseException:
            self.withdraw(lock)
            raise

    def wake_all(self) -> None:
        while self._locks:
            try:
                lock = self._locks.pop()
            except IndexError:
                return
            lock.release()

    def __bool__(self) -> bool:
        return len(self._locks) > 0


class Channel(Sink):
    """A queue of items for one or more readers, without a bound."""

    __slots__ = (
        "_error_text",
        "_is_abandoned",
        "_is_closed",
        "_items",
        "_pushed_bytes",
        "_readers",
        "_taken_bytes",
    )

    def __init__(self) -> None:
        self._items: deque[object] = deque()
        # Two counters, because the writer and the readers must not write the same one. Several
        # readers may: other threads do not interrupt an addition to an attribute.
        self._pushed_bytes = 0
        self._taken_bytes = 0
        self._readers = WaitingThreads()
        self._is_closed = False
        self._is_abandoned = False
        self._error_text = ""  # the error that a read in a forked child raises

    def push(self, item: object) -> None:
        if not self._is_abandoned:
            size = item_bytes(item)
            self._pushed_bytes += size
            self._items.append(item)

    def push_all(self, items: list[object], size: int) -> None:
        if not self._is_abandoned:
            self._pushed_bytes += size
            self._items.extend(items)

    def held_bytes(self) -> int:
        """Bytes of the payloads and attachments in the queue, not counting small ones."""
        return self._pushed_bytes - self._taken_bytes

    def close(self) -> None:
        self._is_closed = True

    def after_unlock(self) -> None:
        if self._items or self._is_closed:
            self._readers.wake_all()

    def leave_to_parent(self, text: str) -> None:
        self._error_text = text
        self._is_abandoned = self._is_closed = True
        self._items.clear()

    def abandon(self) -> None:
        """Note that no reader is left: drop all items, and never block a writer."""
        self._is_abandoned = True
        self._items.clear()
        self._wake()

    def _wake(self) -> None:
        self._readers.wake_all()

    def try_recv(self) -> object | None:
        """The oldest item, None if the queue is empty; `ZError` if it is closed as well."""
        # Read before the queue: items that were pushed before closing can still be read.
        is_closed = self._is_closed
        try:
            item = self._items.popleft()
        except IndexError:
            if is_closed:
                self._check_inherited()
                raise ZError("channel is empty and closed") from None
            return None
        self._note_removed(item)
        return item

    def recv(self) -> object:
        """The oldest item; waits for one. `ZError` if the queue is empty and closed."""
        item = self.next_item()
        if item is None:
            raise ZError("channel is empty and closed")
        return item

    def next_item(self) -> object | None:
        """The oldest item; waits for one. None if the queue is empty and closed."""
        while True:
            is_closed = self._is_closed
            if self._items:
                try:
                    item = self._items.popleft()
                except IndexError:
                    continue  # another thread took it
                self._note_removed(item)
                return item
            if is_closed:
                self._check_inherited()
                return None
            self._sleep()

    def _sleep(self) -> None:
        """Wait until there may be an item, or the channel is closed."""
        lock = self._readers.announce()
        if self._items or self._is_closed:
            self._readers.withdraw(lock)
        else:
            self._readers.sleep(lock)

    def _check_inherited(self) -> None:
        if self._error_text:
            raise InheritedError(self._error_text)

    def _note_removed(self, item: object) -> None:
        """Account for an item that was taken."""
        if self._taken_bytes != self._pushed_bytes:
            size = item_bytes(item)
            self._taken_bytes += size


class RingChannelSink(Channel):
    """Keeps the newest items, drops the oldest."""

    __slots__ = ("_capacity", "_counters")

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self._capacity = max(1, capacity)
        self._counters: dict[str, int] = {}

    def count_in(self, counters: dict[str, int]) -> None:
        self._counters = counters

    def push(self, item: object) -> None:
        super().push(item)
        items = self._items
        while len(items) > 1 and (
            len(items) > self._capacity or self.held_bytes() > HANDLER_BYTES_MAX
        ):
            try:
                self._note_removed(items.popleft())
            except IndexError:
                return  # a reader took it
            self._counters["dropped_items"] = self._counters.get("dropped_items", 0) + 1

    def push_all(self, items: list[object], size: int) -> None:
        for item in items:
            self.push(item)


class FifoChannelSink(Channel):
    """Loses nothing: a writer that exceeds `capacity` waits in `after_unlock`.

    It is woken when there are `room_at` items left.
    """

    __slots__ = ("_capacity", "_room_at", "_writers")

    def __init__(self, capacity: int, room_at: int) -> None:
        super().__init__()
        self._capacity = capacity
        self._room_at = room_at
        self._writers = WaitingThreads()

    def after_unlock(self) -> None:
        if self._items or self._is_closed:
            self._readers.wake_all()
        self._wait_for_room()

    def _wait_for_room(self) -> None:
        if self._is_closed:
            self._writers.wake_all()
        while self._is_too_full():
            lock = self._writers.announce()
            if self._is_too_full():
                self._writers.sleep(lock)
            else:
                self._writers.withdraw(lock)

    def _is_too_full(self) -> bool:
        count = len(self._items)
        if count <= self._capacity and (count <= 1 or self.held_bytes() <= HANDLER_BYTES_MAX):
            return False
        return not self._is_closed and not self._is_abandoned

    def _wake(self) -> None:
        self._readers.wake_all()
        self._writers.wake_all()

    def _note_removed(self, item: object) -> None:
        if self._taken_bytes != self._pushed_bytes:
            size = item_bytes(item)
            self._taken_bytes += size
        if self._writers and len(self._items) <= self._room_at and not self._is_too_full():
            self._writers.wake_all()


def fifo_channel(capacity: int) -> FifoChannelSink:
    """A channel for users: a waiting writer is woken as soon as there is room for one item."""
    return FifoChannelSink(capacity, capacity)
