"""ReaderHandover: a reader may run a callback itself, and is handovers if that takes long.

Waking another thread for each item costs more than most callbacks take. So the reader of a
link runs a callback that is quick as a rule. Meanwhile nobody reads the link: one thread of the
process looks every few milliseconds, and where a callback has not returned it starts another
reader. A callback that is about to wait for something of ours is handovers at once, since what it
waits for may have to be read. The same thread watches the pool of callback threads.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final, Protocol

from zenlake.forks import reset_after_fork
from zenlake.limits import CALLBACK_HOLD_MS_MAX
from zenlake.node.threads import join_thread, start_soon

log = logging.getLogger("zenlake.node")

HOLD_S: Final = CALLBACK_HOLD_MS_MAX / 1000
# Without a callback for so long, nobody looks until there is one again.
_IDLE_S: Final = 0.5


class Reader(Protocol):
    """Reads a link, or runs a callback since `callback_since`; 0 while it reads."""

    callback_since: float

    def hand_over(self) -> None:
        """Somebody else reads from now on, if it is still away."""


class Pool(Protocol):
    """Threads that run callbacks, see api/handlers/callback_pool.py."""

    def hand_over(self, thread: int) -> None:
        """The callback that this thread runs takes long."""

    def look(self, now: float) -> bool:
        """Start threads where callbacks wait for one; whether any callback runs or waits."""


READERS_IN_CALLBACKS: Final[dict[int, Reader]] = {}
"""Readers that run callbacks, by thread."""
reset_after_fork(READERS_IN_CALLBACKS.clear)


def hand_over_reading() -> None:
    """Before anything that may take long, in case this thread should be reading."""
    thread = threading.get_ident()
    reader = READERS_IN_CALLBACKS.get(thread)
    if reader is not None:
        reader.hand_over()
    elif READER_HANDOVER.pool is not None:
        READER_HANDOVER.pool.hand_over(thread)


class ReaderHandover:
    """The thread that looks; it starts with the first callback and ends with the last node.

    Its work is proportional to the callbacks that run now, and while none does it sleeps.
    """

    def __init__(self) -> None:
        self.pool: Pool | None = None
        self.reset()

    def reset(self) -> None:
        """In a forked child there is no such thread, and locks may be held for ever."""
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._nodes = 0
        self.is_watching = False

    def open(self) -> None:
        """A node opened."""
        with self._lock:
            self._nodes += 1

    def close(self, timeout_s: float) -> None:
        """A node closed; with the last one the thread ends."""
        with self._lock:
            self._nodes -= 1
            thread = self._thread
            if self._nodes > 0 or thread is None:
                return
            self._wanted.set()
        join_thread(thread, timeout_s)

    def watch(self) -> None:
        """A callback is about to run, and nobody is watching."""
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
        """There are no more threads: the next callback tries again."""
        with self._lock:
            self._thread = None
            self.is_watching = False

    def _run(self) -> None:
        while not self._ends():
            self._wanted.wait()
            self._wanted.clear()
            now = seen_at = time.monotonic()
            while now - seen_at < (_IDLE_S if self._nodes > 0 else HOLD_S):
                self.is_watching = True
                time.sleep(HOLD_S)
                now = time.monotonic()
                if self._look(now):
                    seen_at = now
            # Said before the last look: whoever goes away after it wakes this thread.
            self.is_watching = False
            if self._look(time.monotonic()):
                self._wanted.set()

    def _ends(self) -> bool:
        with self._lock:
            is_over = self._nodes <= 0 and not self._wanted.is_set()
            if is_over:
                self._thread = None
            return is_over

    def _look(self, now: float) -> bool:
        """Relieve whoever is away for long; whether anybody is."""
        is_anybody = False
        for reader in list(READERS_IN_CALLBACKS.values()):
            is_anybody = True
            if 0.0 < reader.callback_since < now - HOLD_S:
                try:
                    reader.hand_over()
                except Exception:  # there may be no thread left for it; others must be handovers
                    log.exception("a reader was not handovers")
        if self.pool is not None and self.pool.look(now):
            is_anybody = True
        return is_anybody


READER_HANDOVER: Final = ReaderHandover()
reset_after_fork(READER_HANDOVER.reset)
