"""Channels: sinks that a user reads, a bounded FIFO and a ring (behaviour reference §2.14).

`push` only appends, under the node's lock. Everything that may take time happens in `settle`,
outside that lock: waking readers, once per burst however many items it brought, and waiting
while a FIFO is fuller than its capacity, which holds back the link that fills it.

A reader that finds nothing announces that it sleeps *before* it looks again, and a writer looks
for sleepers *after* it appended: so one of the two always sees the other.
"""

from __future__ import annotations

import os
from collections import deque
from threading import Lock
from typing import Final

from zenlake.errors import ZError
from zenlake.forks import InheritedError
from zenlake.limits import HANDLER_ITEMS_MAX
from zenlake.node.gathering import before_waiting
from zenlake.session.sink import Sink

_LOOK_UP_S: Final = -1.0 if os.name == "posix" else 0.1


class Waiting:
    """Threads that wait for something to change: a lock each, which is the quickest way to wake.

    Whoever waits announces itself, looks again whether it must, and then sleeps; whoever
    changed something wakes all. A list is safe to use from any thread, also from a finalizer.
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
        """Until `wake_all`; Ctrl-C ends it as well."""
        before_waiting()
        try:
            # Without a limit it is interrupted on POSIX only.
            while not lock.acquire(timeout=_LOOK_UP_S):
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
    """Items on their way to one or more readers; this class keeps them all."""

    __slots__ = ("_error_text", "_is_abandoned", "_is_closed", "_items", "_readers")

    def __init__(self, items: deque[object]) -> None:
        self._items = items
        self._readers = Waiting()
        self._is_closed = False
        self._is_abandoned = False
        self._error_text = ""  # why a forked child cannot read it

    def push(self, item: object) -> None:
        if not self._is_abandoned:
            self._items.append(item)

    def push_all(self, items: list[object]) -> None:
        if not self._is_abandoned:
            self._items.extend(items)

    def close(self) -> None:
        self._is_closed = True

    def settle(self) -> None:
        if self._items or self._is_closed:
            self._readers.wake_all()

    def leave_to_parent(self, text: str) -> None:
        self._error_text = text
        self._is_abandoned = self._is_closed = True
        self._items.clear()

    def abandon(self) -> None:
        """Nobody will read any more: what comes is dropped, and nothing waits for room."""
        self._is_abandoned = True
        self._items.clear()
        self._wake()

    def _wake(self) -> None:
        self._readers.wake_all()

    def try_take(self) -> object | None:
        """The oldest item, None if there is none now; `ZError` if there will be none."""
        # Asked before looking: what was pushed before closing is still there to be found.
        is_closed = self._is_closed
        try:
            item = self._items.popleft()
        except IndexError:
            if is_closed:
                self._check_inherited()
                raise ZError("channel is empty and closed") from None
            return None
        self._taken()
        return item

    def take(self) -> object:
        """The oldest item, as soon as there is one; `ZError` if there will be none."""
        item = self.next_item()
        if item is None:
            raise ZError("channel is empty and closed")
        return item

    def next_item(self) -> object | None:
        """The oldest item, as soon as there is one; None if there will be none."""
        while True:
            is_closed = self._is_closed
            if self._items:
                try:
                    item = self._items.popleft()
                except IndexError:
                    continue  # another reader was quicker
                self._taken()
                return item
            if is_closed:
                self._check_inherited()
                return None
            self._sleep()

    def _sleep(self) -> None:
        """Wait until there may be items or the end."""
        lock = self._readers.announce()
        if self._items or self._is_closed:
            self._readers.withdraw(lock)
        else:
            self._readers.sleep(lock)

    def _check_inherited(self) -> None:
        if self._error_text:
            raise InheritedError(self._error_text)

    def _taken(self) -> None:
        """An item was taken."""


class RingChannelSink(Channel):
    """Keeps the newest items, drops the oldest."""

    __slots__ = ("_capacity", "_counters")

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._counters: dict[str, int] = {}
        super().__init__(deque(maxlen=self._capacity))

    def count_in(self, counters: dict[str, int]) -> None:
        self._counters = counters

    def push(self, item: object) -> None:
        if self._is_abandoned:
            return
        if len(self._items) == self._capacity:
            self._counters["dropped_items"] = self._counters.get("dropped_items", 0) + 1
        self._items.append(item)

    def push_all(self, items: list[object]) -> None:
        for item in items:
            self.push(item)


class FifoChannelSink(Channel):
    """Loses nothing: whoever brings more than `capacity` waits in `settle`."""

    __slots__ = ("_capacity", "_writers")

    def __init__(self, capacity: int = HANDLER_ITEMS_MAX) -> None:
        super().__init__(deque())
        self._capacity = capacity
        self._writers = Waiting()

    def settle(self) -> None:
        if self._items or self._is_closed:
            self._readers.wake_all()
        if self._is_closed:
            self._writers.wake_all()
        while self._is_too_full():
            lock = self._writers.announce()
            if self._is_too_full():
                self._writers.sleep(lock)
            else:
                self._writers.withdraw(lock)

    def _is_too_full(self) -> bool:
        return len(self._items) > self._capacity and not self._is_closed and not self._is_abandoned

    def _wake(self) -> None:
        self._readers.wake_all()
        self._writers.wake_all()

    def _taken(self) -> None:
        if self._writers and len(self._items) <= self._capacity:
            self._writers.wake_all()

    def wait(self) -> bool:
        """Until there are items, or False at the end."""
        while True:
            is_closed = self._is_closed
            if self._items:
                return True
            if is_closed:
                return False
            self._sleep()

    def take_all(self) -> list[object]:
        """All items there are now. For one reader at a time."""
        items = self._items
        taken = [items.popleft() for _ in range(len(items))]
        self._taken()
        return taken
