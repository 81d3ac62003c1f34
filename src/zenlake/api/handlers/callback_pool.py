"""`CallbackPool`: the threads of this process that run indirect callbacks.

A callback without items needs no thread. The thread that brings an item to an idle callback puts
the callback into the queue, and a worker calls it until it has no more items: so a callback never
runs twice at once, and its items stay in order. A few workers are enough while callbacks are
quick. A worker whose callback runs for long does not count as working: another worker takes its
place, up to one for each callback. Workers end after being idle for a while.

All sessions of the process share one pool: with a pool each, a program with many sessions would
have many idle threads.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from time import monotonic
from typing import Final, Protocol

from zenlake.forks import reset_after_fork
from zenlake.node.reader_handover import HOLD_S, READER_HANDOVER
from zenlake.node.threads import start_soon

_log: Final = logging.getLogger("zenlake.handlers")

# The number of workers that start at once when callbacks are queued; more start after HOLD_S.
_WORKERS: Final = 4
_IDLE_S: Final = 1.0


class Task(Protocol):
    """A callback with items in its queue."""

    def run(self) -> None:
        """Call the callback for its items; called by one worker at a time."""


class Worker:
    """A thread of the pool."""

    def __init__(self) -> None:
        self.wake = threading.Lock()  # held while the worker is idle
        self.wake.acquire()
        self.running_since = 0.0
        self.is_slow = False  # whether another worker has taken its place


class CallbackPool:
    """A queue of callbacks and the workers that call them."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """A forked child has no workers, and its copy of the lock may never be released."""
        # Reentrant: a finalizer may publish, and may run in the middle of this code.
        self._lock = threading.RLock()
        self._ready: deque[Task] = deque()
        self._idle: list[Worker] = []
        self._running: dict[int, Worker] = {}
        self._working = 0  # the number of workers that are not idle and not slow
        self._finished = 0  # the number of callbacks that ran out of items since `start_workers`

    def submit(self, one: Task) -> None:
        """Queue a callback that no worker runs and that is not queued."""
        with self._lock:
            self._ready.append(one)
            woken, starts = self._more_workers(1 if self._working < _WORKERS else 0)
        self._set_working(woken, starts)
        if not woken and not starts and not READER_HANDOVER.is_watching:
            READER_HANDOVER.watch()

    def _more_workers(self, count: int) -> tuple[list[Worker], int]:
        """The idle workers to wake, last used first, and how many to start; `_lock` is held."""
        woken = [self._idle.pop() for _ in range(min(count, len(self._idle)))]
        self._working += count
        return woken, count - len(woken)

    def _set_working(self, woken: list[Worker], starts: int) -> None:
        for worker in woken:
            worker.wake.release()
        for _ in range(starts):
            thread = threading.Thread(target=self._run, name="zenlake-callback", daemon=True)
            start_soon(thread, self._not_started)

    def _not_started(self) -> None:
        """The system refused a thread; the next `start_workers` tries again."""
        with self._lock:
            self._working -= 1
        if not READER_HANDOVER.is_watching:
            READER_HANDOVER.watch()

    def _run(self) -> None:
        worker = Worker()
        me = threading.get_ident()
        while (one := self._next(worker)) is not None:
            worker.running_since = monotonic()
            self._running[me] = worker
            try:
                one.run()
            except BaseException:  # an exception of a callback must not end the worker
                _log.exception("callback error")
            del one  # an idle worker must not keep the callback alive
            with self._lock:
                del self._running[me]
                self._finished += 1
                if worker.is_slow:
                    worker.is_slow = False
                    self._working += 1

    def _next(self, worker: Worker) -> Task | None:
        """The callback that was queued first; None if the worker was idle for too long."""
        while True:
            with self._lock:
                if self._ready:
                    return self._ready.popleft()
                self._working -= 1
                self._idle.append(worker)
            # The thread that removes the worker from the list counts it as working.
            if not worker.wake.acquire(timeout=_IDLE_S):
                with self._lock:
                    if worker in self._idle:
                        self._idle.remove(worker)
                        return None
                worker.wake.acquire()

    def hand_over(self, thread: int) -> None:
        """Note that the callback of this thread is about to block."""
        worker = self._running.get(thread)
        if worker is None or worker.is_slow:
            return
        with self._lock:
            worker.is_slow = True
            self._working -= 1
            is_needed = self._ready and self._working < _WORKERS
            woken, starts = self._more_workers(1 if is_needed else 0)
        self._set_working(woken, starts)

    def start_workers(self, now: float) -> bool:
        """Called by the thread of `READER_HANDOVER`: start workers if callbacks are queued."""
        with self._lock:
            for worker in self._running.values():
                if not worker.is_slow and worker.running_since < now - HOLD_S:
                    worker.is_slow = True
                    self._working -= 1
            waiting, finished = len(self._ready), self._finished
            self._finished = 0
            count = max(0, _WORKERS - self._working)
            if count == 0 and waiting > finished:  # the queue grows faster than it is served
                count = self._working
            woken, starts = self._more_workers(min(count, waiting))
            is_busy = waiting > 0 or len(self._running) > 0
        self._set_working(woken, starts)
        return is_busy

    def has_waiting(self) -> bool:
        """Whether callbacks are queued."""
        return len(self._ready) > 0


POOL: Final = CallbackPool()
READER_HANDOVER.pool = POOL
reset_after_fork(POOL.reset)
