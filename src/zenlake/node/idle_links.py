"""IdleLinks: one thread of the process waits for all links that have nothing to read.

A reader that waits in a thread of its own receives a message soonest. But a thread for each of
thousands of silent sessions costs memory, and thousands that wake at once (a cut cable, a reset of
all by one client) keep all others from running. So a reader whose link was silent for a while
leaves it here and ends. Keep-alives and the end of a link are handled here; for anything else the
link gets a reader again.

To start a reader takes far longer than to route a message, and thousands of links that send now
and then would need one each; a hundred threads that wait for the GIL cost more than their work. So
where there are many links, this thread also routes short messages that need no wait.

Without epoll (systems other than Linux) every link keeps its reader.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections import deque
from time import monotonic
from typing import Final, Protocol

from zenlake.forks import reset_after_fork
from zenlake.node.threads import ThreadError, join_thread, start_thread
from zenlake.node.yield_gil import BUSY_S_MAX, yield_gil

log = logging.getLogger("zenlake.node")

IS_SUPPORTED: Final = hasattr(select, "epoll") and hasattr(os, "eventfd")
# How long a reader waits for bytes before it leaves its link here; with many links, a short time.
PATIENCE_S: Final = 1.0
_SHORT_PATIENCE_S: Final = 0.02
# With more threads and idle links together than this, links count as crowded.
_CROWDED_MIN: Final = 128
_EVENTS_AT_ONCE: Final = 256


class IdleReader(Protocol):
    """Reads a link, see link_reader.py."""

    def wake(self) -> None:
        """Called when the descriptor is readable. Must not wait."""

    def drop(self, cause: str) -> None: ...


class IdleLinks:
    """The thread starts with the first idle link and ends with the last node."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the links of the parent, in a forked child.

        The child's copies of the descriptors are left open: they are two numbers, and closing an
        epoll set while it is shared is safe only in the process that owns it.
        """
        self._lock = threading.Lock()
        self._readers: dict[int, IdleReader] = {}
        self._epoll: select.epoll | None = None
        self._wake_fd = -1
        self._waiter: threading.Thread | None = None
        self._nodes = 0
        self.is_crowded = False
        """Whether there were so many links, at the last check, that they have no readers."""

    def open(self) -> None:
        """Count an opened node."""
        with self._lock:
            self._nodes += 1

    def close(self, timeout_s: float) -> None:
        """Count a closed node, after its links; the thread ends with the last node."""
        with self._lock:
            self._nodes -= 1
            thread = self._waiter
            if self._nodes > 0 or thread is None:
                return
            os.eventfd_write(self._wake_fd, 1)
        join_thread(thread, timeout_s)

    def update_patience(self) -> float:
        """Return how long a reader now waits for bytes, and set `is_crowded`."""
        self.is_crowded = threading.active_count() + len(self._readers) > _CROWDED_MIN
        return _SHORT_PATIENCE_S if self.is_crowded else PATIENCE_S

    def add(self, descriptor: int, reader: IdleReader) -> bool:
        """Wake the reader when its descriptor can be read, once; False if no thread can wait.

        The descriptor must stay open until the reader is woken.
        """
        with self._lock:
            if self._waiter is None and not self._start():
                return False
            assert self._epoll is not None
            self._readers[descriptor] = reader
            self.update_patience()
            flags = select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLONESHOT
            try:
                self._epoll.modify(descriptor, flags)
            except FileNotFoundError:
                self._epoll.register(descriptor, flags)
            return True

    def _start(self) -> bool:
        """Start the thread, with the lock held; False if that fails."""
        try:
            self._epoll = select.epoll()
            self._wake_fd = os.eventfd(0, os.EFD_CLOEXEC)
            self._epoll.register(self._wake_fd, select.EPOLLIN)
            thread = threading.Thread(
                target=self._run, args=(self._epoll,), name="zenlake idle links", daemon=True
            )
            start_thread(thread)
        except (OSError, ThreadError):
            self._release()
            return False
        self._waiter = thread
        return True

    def _release(self) -> None:
        if self._epoll is not None:
            self._epoll.close()
        if self._wake_fd >= 0:
            os.close(self._wake_fd)
        self._epoll = None
        self._wake_fd = -1
        self._waiter = None

    def _run(self, epoll: select.epoll) -> None:
        """Links with something to read go before those that ended, which are not urgent."""
        end = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR
        ending: deque[int] = deque()
        while not self._ends():
            for descriptor, events in epoll.poll(0 if ending else None, _EVENTS_AT_ONCE):
                if descriptor == self._wake_fd:
                    os.eventfd_read(descriptor)
                elif events & end:
                    ending.append(descriptor)
                else:
                    self._wake(descriptor)
            if ending:
                self._wake_some(ending)
                yield_gil()

    def _wake_some(self, descriptors: deque[int]) -> None:
        deadline = monotonic() + BUSY_S_MAX
        while descriptors and monotonic() < deadline:
            self._wake(descriptors.popleft())

    def _wake(self, descriptor: int) -> None:
        with self._lock:
            reader = self._readers.pop(descriptor, None)
        if reader is None:
            return
        try:
            reader.wake()
        except Exception:  # links of which another thread must wake the readers
            log.exception("an idle link failed")
            reader.drop("reading failed")

    def _ends(self) -> bool:
        with self._lock:
            is_over = self._nodes <= 0 and not self._readers
            if is_over:
                self._release()
            return is_over


IDLE_LINKS: Final = IdleLinks()
reset_after_fork(IDLE_LINKS.reset)
