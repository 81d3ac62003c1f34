"""PublishLock: the lock on the log of publications, which a run holds while it publishes.

It is a lease: a run that neither publishes nor renews the lease in time loses the lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from zenlake.lake.errors import LakeError
from zenlake.lake.publish.delta_table import ConcurrentCommit, Table
from zenlake.lake.publish.publication_log import (
    LEASE_SECONDS,
    LockRecord,
    LogState,
    Publication,
    abandon_facts,
    begin_facts,
    read_log,
)
from zenlake.limits import LAKE_WAIT_SECONDS_MAX

_POLL_SECONDS: Final = (0.02, 0.5)
"""The first and the longest pause while another run holds the lock."""


class PublishLock:
    """The lock, held by this run."""

    def __init__(self, run: str, captures: Table, publication: Publication) -> None:
        self._run = run
        self.captures = captures
        """The table after the last commit under this lock."""
        self.publication = publication
        """The last publication before this run."""
        self.is_published = False
        self._renewed_s = time.monotonic()

    def renew(self) -> None:
        """Renews the lease if a quarter of it has passed."""
        if time.monotonic() - self._renewed_s > LEASE_SECONDS / 4:
            self._commit(begin_facts(self._run))
            self._renewed_s = time.monotonic()

    def publish(self, publication: Publication, **files: Any) -> None:
        self._commit(publication.facts(self._run), **files)
        self.is_published = True

    def release(self) -> None:
        with suppress(LakeError):
            self._commit(abandon_facts(self._run))

    def _commit(self, facts: dict[str, Any], **files: Any) -> None:
        try:
            self.captures = self.captures.commit(facts=facts, **files)
        except ConcurrentCommit:
            cause = "another run took over, because this one was silent for too long: run again"
            raise LakeError(cause) from None


@contextmanager
def hold_lock(
    run: str, captures: Table, reload: Callable[[], Table]
) -> Iterator[tuple[PublishLock, LockRecord | None]]:
    """Waits for the lock; also yields the record of a dead run that held it, if there is one.

    `reload` opens the newest version of the table `captures`.
    """
    state, captures = _acquire(run, captures, reload)
    lock = PublishLock(run, captures, state.publication)
    try:
        yield lock, state.lock
    finally:
        if not lock.is_published:
            lock.release()


def _acquire(run: str, captures: Table, reload: Callable[[], Table]) -> tuple[LogState, Table]:
    deadline = time.monotonic() + LAKE_WAIT_SECONDS_MAX
    pause, longest = _POLL_SECONDS
    while True:
        state = read_log(captures)
        if state.lock is None or state.lock.is_over(time.time()):
            try:
                return state, captures.commit(facts=begin_facts(run))
            except ConcurrentCommit:
                captures = reload()
                continue
        if time.monotonic() > deadline:
            other = f"pid {state.lock.pid} on {state.lock.host}"
            raise LakeError(f"another run is publishing ({other}): run again when it is done")
        time.sleep(pause)
        pause = min(2 * pause, longest)
        captures = reload()
