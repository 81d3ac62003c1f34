"""FollowedCapture: a recording that is followed into a lake.

It publishes batches of rows, and keeps the state between them in a folder on this machine:
`_followed` in the lake or, for a lake in a store, a folder beside the recording.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from zenlake.lake.address import Address
from zenlake.lake.file_lists import File, Files, paths_of, row_count
from zenlake.lake.follow.old_files import OldFiles
from zenlake.lake.follow.state import FollowState, StateFolder
from zenlake.lake.jobs import Result
from zenlake.lake.pipeline.table_task import NO_QUERIES
from zenlake.lake.publish import Run
from zenlake.lake.publish.appender import Appended, Batch
from zenlake.lake.publish.publisher import SMALL_BYTES
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.published import READ_COUNTS
from zenlake.lake.schema.staged import STAGED

if TYPE_CHECKING:
    from zenlake.lake.follow.derivation import Derived

_SESSIONS: Final = "sessions"
_SAMPLES: Final = "samples"
_LATENCIES: Final = "latencies"


class FollowedCapture:
    """One recording in one lake; `state` is the state after the last published batch."""

    def __init__(self, run: Run, folder: StateFolder, name: str, recording: str, keep_s: float):
        self.run = run
        self.folder = folder
        self.name = name
        """The name of the capture in the tables."""
        self.recording = recording
        """The id of the recording."""
        self.state = FollowState()
        self.is_lost = False
        """Whether the state of the last batch was lost: the next one replaces all rows."""
        # Files of the state are links to files of tasks, so both must be on one disk.
        self.work = Path(run.staging.path) if run.lake.is_local else folder.work
        """The folder for files of tasks."""
        self.old = OldFiles(run.lake, keep_s)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the state; an error if another process follows the recording into this lake."""
        with self.folder.locked():
            try:
                yield
            finally:
                shutil.rmtree(self.folder.work, ignore_errors=True)

    def in_lake(self, table: str, name: str) -> Address:
        return self.run.lake / table / name

    def mark(self, state: FollowState) -> dict[str, Any]:
        return {"batch": state.batch, "packets": state.packets, "recording": self.recording}

    def publish(
        self, found: Result, row: dict[str, Any], new: Files, end: Files, derived: Derived
    ) -> Appended:
        """Publishes a batch: `found` is the reader's result, `row` the row of `captures`."""
        before = self.state
        state = FollowState(
            recording=self.recording,
            batch=before.batch + 1,
            packets=found["packets"],
            segment=found["segment"],
            facts=found["trace"],
            row={**row, **_query_sums(before.queries, derived.settled_counts, derived.counts)},
            queries=_query_sums(before.queries, derived.settled_counts),
            settle_events=derived.settle_events,
            events=self._kept_events(new, derived.joined_events),
            counts={
                name: before.counts.get(name, 0) + row_count(new.get(name, ()))
                for name in READ_COUNTS
            },
            small=before.small,
        )
        files = _merged(_of_lake(new), derived.settled)
        pending = _merged({**_of_lake(end), _SAMPLES: derived.end_samples}, derived.files)
        state.end_samples = len(derived.end_samples)
        publications = {_SAMPLES: derived.samples, _LATENCIES: derived.latencies}
        files.pop(_SAMPLES, None)
        if derived.is_window_full:
            files |= publications
        else:
            pending = _merged(pending, publications)
            state.samples = self._kept_samples(new, derived.raw_samples)
        state.digests = {table: _digest(listed) for table, listed in pending.items() if listed}
        same = {
            table for table, known in state.digests.items() if before.digests.get(table) == known
        }
        state.pending = {table: before.pending[table] for table in same}
        return self.append(
            state,
            Batch(
                row=state.row,
                mark=self.mark(state),
                files=files,
                pending={table: listed for table, listed in pending.items() if table not in same},
                removed={
                    table: names for table, names in before.pending.items() if table not in same
                },
                joined={table: [one for one, _ in before.small[table]] for table in derived.joined},
                joined_files=derived.joined,
                cleared=frozenset(TABLES) if self.is_lost else frozenset(),
            ),
        )

    def append(self, state: FollowState, batch: Batch) -> Appended:
        """Publishes a batch with which the state becomes `state`."""
        before = self.state

        def save(appended: Appended) -> None:
            """Saves the state, which must be complete before the batch is visible."""
            self.folder.save(_with_names(state, appended))

        appended = self.run.append(replace(batch, before_commit=save))
        self.state = _with_names(state, appended)
        self.is_lost = False
        self.folder.forget(before, self.state)
        for table, names in batch.removed.items():
            self.old.add(table, names)
        for table in appended.joined:
            self.old.add(table, batch.joined[table])
        self.old.delete_expired()
        return appended

    def _kept_events(self, new: Files, joined: dict[str, str | None]) -> dict[str, list[str]]:
        """Names of files of events, in the folder of the state."""
        kept: dict[str, list[str]] = {}
        for table in (*STAGED, _SESSIONS):
            if table in joined:
                path = joined[table]
                kept[table] = [] if path is None else [self.folder.move_in(table, path)]
                continue
            # Files of sessions go to the lake as well.
            put = self.folder.link_in if table == _SESSIONS else self.folder.move_in
            names = [put(table, path) for path in paths_of(new.get(table, ()))]
            kept[table] = [*self.state.events.get(table, ()), *names]
        return kept

    def _kept_samples(self, new: Files, raw: File | None) -> list[File]:
        if raw is not None:
            return [{**raw, "path": self.folder.move_in(_SAMPLES, raw["path"])}]
        added = [
            {**file, "path": self.folder.move_in(_SAMPLES, str(file["path"]))}
            for file in new.get(_SAMPLES, ())
        ]
        return [*self.state.samples, *added]


def _of_lake(files: Files) -> Files:
    """Files of the lake's tables, without those of staged tables."""
    return {table: listed for table, listed in files.items() if table in TABLES}


def _merged(one: Files, other: Files) -> Files:
    return {table: [*one.get(table, ()), *other.get(table, ())] for table in {**one, **other}}


def _query_sums(*counts: dict[str, int]) -> dict[str, int]:
    return {name: sum(one.get(name, 0) for one in counts) for name in NO_QUERIES}


def _digest(files: list[File]) -> str:
    """The SHA-256 of the content of the files."""
    found = hashlib.sha256()
    for path in paths_of(files):
        found.update(Path(path).read_bytes())
    return found.hexdigest()


def _with_names(state: FollowState, appended: Appended) -> FollowState:
    """The state with the names that files got in the lake."""
    pending = {table: [*names] for table, names in appended.pending.items() if names}
    small: dict[str, list[tuple[str, int]]] = {}
    for table in TABLES:
        known = [] if table in appended.joined else state.small.get(table, [])
        added = [one for one in appended.names.get(table, ()) if one[1] < SMALL_BYTES]
        if known or added:
            small[table] = [*known, *added]
    kept = {
        table: [*state.pending.get(table, ()), *pending.get(table, ())]
        for table in {**state.pending, **pending}
    }
    return replace(state, pending={table: one for table, one in kept.items() if one}, small=small)
