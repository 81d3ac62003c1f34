"""A turn to publish: from a run's `begin` in the log to its publication, or to giving up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from zenlake.lake.publish.delta_table import Outrun, Table
from zenlake.lake.publish.errors import LakeError
from zenlake.lake.publish.publication_log import (
    LEASE_SECONDS,
    LogState,
    Publication,
    Turn,
    abandon_facts,
    begin_facts,
    read_log,
)
from zenlake.limits import LAKE_WAIT_SECONDS_MAX

_POLL_SECONDS: Final = (0.02, 0.5)
"""The first wait for another run, and the longest."""


class OwnTurn:
    """The log of publications while nobody else may publish."""

    def __init__(self, run: str, captures: Table, publication: Publication) -> None:
        self._run = run
        self.captures = captures
        """As of the last commit of this turn."""
        self.publication = publication
        """The one before."""
        self.is_published = False
        self._renewed_s = time.monotonic()

    def renew(self) -> None:
        """To be called now and then: a turn that is not renewed is passed over."""
        if time.monotonic() - self._renewed_s > LEASE_SECONDS / 4:
            self._commit(begin_facts(self._run))
            self._renewed_s = time.monotonic()

    def publish(self, publication: Publication, **files: Any) -> None:
        self._commit(publication.facts(self._run), **files)
        self.is_published = True

    def give_up(self) -> None:
        with suppress(LakeError):
            self._commit(abandon_facts(self._run))

    def _commit(self, facts: dict[str, Any], **files: Any) -> None:
        try:
            self.captures = self.captures.commit(facts=facts, **files)
        except Outrun:
            cause = "another run took over, because this one was silent for too long: run again"
            raise LakeError(cause) from None


@contextmanager
def own_turn(run: str, captures: Table, reload: Any) -> Iterator[tuple[OwnTurn, Turn | None]]:
    """Waits until nobody else publishes; with the dead run, if one left its turn behind.

    `reload` gives the table `captures` as it is now.
    """
    state, captures = _begun(run, captures, reload)
    turn = OwnTurn(run, captures, state.publication)
    try:
        yield turn, state.turn
    finally:
        if not turn.is_published:
            turn.give_up()


def _begun(run: str, captures: Table, reload: Any) -> tuple[LogState, Table]:
    deadline = time.monotonic() + LAKE_WAIT_SECONDS_MAX
    pause, longest = _POLL_SECONDS
    while True:
        state = read_log(captures)
        if state.turn is None or state.turn.is_over(time.time()):
            try:
                return state, captures.commit(facts=begin_facts(run))
            except Outrun:
                captures = reload()
                continue
        if time.monotonic() > deadline:
            other = f"pid {state.turn.pid} on {state.turn.host}"
            raise LakeError(f"another run is publishing ({other}): run again when it is done")
        time.sleep(pause)
        pause = min(2 * pause, longest)
        captures = reload()
