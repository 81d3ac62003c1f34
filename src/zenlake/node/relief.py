"""Relief: a reader may run a callback itself, and is relieved if that takes long.

Waking another thread for each item costs more than most callbacks take. So the reader of a
link runs a callback that is quick as a rule. Meanwhile nobody reads the link: a thread looks
every few milliseconds, and where a callback is not back it sends another reader. A callback
that is about to wait for something of ours is relieved at once, since what it waits for may
have to be read.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

from zenlake.forks import reset_after_fork
from zenlake.limits import CALLBACK_HOLD_MS_MAX
from zenlake.node.threads import join_thread

_HOLD_S: Final = CALLBACK_HOLD_MS_MAX / 1000
# Without a callback for so long, nobody looks until there is one again.
_IDLE_S: Final = 0.5


class Reader(Protocol):
    """Reads a link, or runs a callback since `away_since`; 0 while it reads."""

    away_since: float

    def relieve(self) -> None:
        """Somebody else reads from now on, if it is still away."""


AWAY: Final[dict[int, Reader]] = {}
"""Readers that run callbacks, by thread."""
reset_after_fork(AWAY.clear)


def relieve_this_thread() -> None:
    """Before anything that may take long, in case this thread should be reading."""
    reader = AWAY.get(threading.get_ident())
    if reader is not None:
        reader.relieve()


class Relief:
    """The thread that looks; it starts with the first callback."""

    def __init__(self) -> None:
        self._wanted = threading.Event()
        self._starting = threading.Lock()
        self._watcher: threading.Thread | None = None
        self._is_closed = False
        self._readers: dict[int, Reader] = {}
        self.is_watching = False

    def watch(self) -> None:
        """A reader is about to run a callback, and nobody is watching."""
        with self._starting:
            if self._watcher is None and not self._is_closed:
                self._watcher = threading.Thread(
                    target=self._run, name="zenlake relief", daemon=True
                )
                self._watcher.start()
        self.is_watching = True
        self._wanted.set()

    def add(self, reader: Reader) -> None:
        self._readers[id(reader)] = reader

    def remove(self, reader: Reader) -> None:
        self._readers.pop(id(reader), None)

    def close(self) -> None:
        self._is_closed = True
        self._wanted.set()

    def join(self, timeout_s: float) -> None:
        join_thread(self._watcher, timeout_s)

    def _run(self) -> None:
        while not self._is_closed:
            self._wanted.wait()
            self._wanted.clear()
            seen_at = time.monotonic()
            while not self._is_closed and time.monotonic() - seen_at < _IDLE_S:
                self.is_watching = True
                time.sleep(_HOLD_S)
                if self._look(time.monotonic()):
                    seen_at = time.monotonic()
            # Said before the last look: whoever goes away after it wakes this thread.
            self.is_watching = False
            if self._look(time.monotonic()):
                self._wanted.set()

    def _look(self, now: float) -> bool:
        """Relieve who is away for long; whether anybody is."""
        is_anybody = False
        for reader in list(self._readers.values()):
            since = reader.away_since
            if since > 0.0:
                is_anybody = True
                if now - since > _HOLD_S:
                    reader.relieve()
        return is_anybody
