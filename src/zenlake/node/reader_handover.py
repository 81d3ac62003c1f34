"""ReaderHandover: a reader runs quick callbacks itself; if one is slow, another reader takes over.

To wake another thread for each item costs more than most callbacks take. So the reader of a link
runs a callback that is quick as a rule. Meanwhile nobody reads the link: one thread of the process
checks every few milliseconds, and starts another reader where a callback has not returned. A
callback that is about to wait for something of this package is replaced at once, since what it
waits for may have to be read from the link. The same thread watches the pool of callback threads.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final, Protocol

from zenlake.forks import reset_after_fork
from zenlake.limits import CALLBACK_HOLD_MS_MAX
from zenlake.node.node_activity import NodeActivity
from zenlake.node.threads import join_thread, start_soon

log = logging.getLogger("zenlake.node")

HOLD_S: Final = CALLBACK_HOLD_MS_MAX / 1000
# Without a callback for so long, the thread sleeps until there is one again.
_IDLE_S: Final = 0.5


class Pool(Protocol):
    """Threads that run callbacks, see api/handlers/callback_pool.py."""

    def hand_over(self, thread: int) -> None:
        """Replace the calling thread as reader, because its callback may take long."""

    def start_workers(self, now: float) -> bool:
        """Start threads where callbacks wait for one; whether any callback runs or waits."""


def hand_over_reading() -> None:
    """Hand over the link that this thread should read, before it does anything that takes long."""
    thread = threading.get_ident()
    for node in READER_HANDOVER.nodes:
        reader = node.readers_in_callbacks.get(thread)
        if reader is not None:
            reader.hand_over()
            return
    if READER_HANDOVER.pool is not None:
        READER_HANDOVER.pool.hand_over(thread)


class ReaderHandover:
    """The thread that checks; it starts with the first callback and ends with the last node.

    Its work is proportional to the callbacks that run now, and while none does it sleeps.
    """

    def __init__(self) -> None:
        self.pool: Pool | None = None
        self.reset()

    def reset(self) -> None:
        """Start anew in a forked child: the thread is missing, and locks may be held for ever."""
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self.nodes: tuple[NodeActivity, ...] = ()  # replaced, never changed: read without the lock
        self.is_watching = False

    def open(self, node: NodeActivity) -> None:
        with self._lock:
            self.nodes = (*self.nodes, node)

    def close(self, node: NodeActivity, timeout_s: float) -> None:
        """Count a closed node; the thread ends with the last one."""
        with self._lock:
            self.nodes = tuple(one for one in self.nodes if one is not node)
            thread = self._thread
            if self.nodes or thread is None:
                return
            self._wanted.set()
        join_thread(thread, timeout_s)

    def watch(self) -> None:
        """A callback is about to run, and `is_watching` is false."""
        thread = None
        with self._lock:
            self.is_watching = True
            self._wanted.set()
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="zenlake handover", daemon=True)
                self._thread = thread
        if thread is not None:
            start_soon(thread, self._not_started)

    def _not_started(self) -> None:
        """Note that no thread could be started: the next callback tries again."""
        with self._lock:
            self._thread = None
            self.is_watching = False

    def _run(self) -> None:
        while not self._ends():
            self._wanted.wait()
            self._wanted.clear()
            now = seen_at = time.monotonic()
            while now - seen_at < (_IDLE_S if self.nodes else HOLD_S):
                self.is_watching = True
                time.sleep(HOLD_S)
                now = time.monotonic()
                if self._check(now):
                    seen_at = now
            # Set before the last check: a callback that begins after it wakes this thread.
            self.is_watching = False
            if self._check(time.monotonic()):
                self._wanted.set()

    def _ends(self) -> bool:
        with self._lock:
            is_over = not self.nodes and not self._wanted.is_set()
            if is_over:
                self._thread = None
            return is_over

    def _check(self, now: float) -> bool:
        """Replace readers whose callback takes long; whether any callback runs."""
        runs_any = False
        for node in self.nodes:
            for reader in list(node.readers_in_callbacks.values()):
                runs_any = True
                if 0.0 < reader.callback_since < now - HOLD_S:
                    try:
                        reader.hand_over()
                    except Exception:  # perhaps no thread is left; go on with the other readers
                        log.exception("a reader was not replaced")
        if self.pool is not None and self.pool.start_workers(now):
            runs_any = True
        return runs_any


READER_HANDOVER: Final = ReaderHandover()
"""One for the process: a callback on a reader of one node may wait in another node."""
reset_after_fork(READER_HANDOVER.reset)
