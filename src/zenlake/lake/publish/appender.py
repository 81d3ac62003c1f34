"""Appender: adds a batch of rows to a capture that is followed while it grows.

The files of earlier batches stay. Rows that later packets may change are in separate files, the
pending files, which the next batch replaces. All tables change in one publication, as in other
runs. The publication also has the mark of the batch: its number and the position up to which the
capture was read. So after a crash both are visible or neither, and the follower continues at the
mark of the last publication.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import Files
from zenlake.lake.publish.delta_table import ActiveFile, Table
from zenlake.lake.publish.publication_log import FollowMark
from zenlake.lake.publish.publish_lock import PublishLock
from zenlake.lake.publish.publisher import PENDING_MARK, Publisher, marks_left, replaced_captures
from zenlake.lake.publish.removal import without_captures
from zenlake.lake.publish.requests import results_by_key


@dataclass(frozen=True)
class Batch:
    """The changes of one batch. `files` and `pending` are files as in `Run.publish`, by table."""

    row: Mapping[str, Any]
    """The row of `captures`, which replaces the last one."""
    mark: FollowMark
    """The mark: `batch`, counted from 1, and the facts that the follower needs to continue."""
    files: Files
    pending: Files = field(default_factory=dict)
    """Files that a later batch replaces: the next one with files of the same table in `removed`."""
    removed: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Names of pending files of earlier batches, which this batch removes."""
    joined: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Names of files whose rows `joined_files` contain too."""
    joined_files: Files = field(default_factory=dict)
    cleared: frozenset[str] = frozenset()
    """Tables from which all earlier rows of the capture are removed."""
    before_commit: Callable[[Appended], None] = lambda appended: None
    """Called after all files got their names, before the batch becomes visible."""


@dataclass(frozen=True)
class Appended:
    """The result of a batch: the new version, and the names of its files by table."""

    version: int
    names: Mapping[str, Sequence[tuple[str, int]]]
    """Names and sizes of the files that later batches keep."""
    pending: Mapping[str, Sequence[str]]
    joined: frozenset[str]
    """Tables whose joined files were used."""


class Appender(Publisher):
    """Publishes one batch of a followed capture under the lock."""

    def append(self, batch: Batch) -> Appended:
        row = batch.row
        address, capture = str(row["address"]), str(row["capture"])
        with self._locked() as lock:
            before = self._capture_rows(lock)
            self._check_order(lock, address, int(batch.mark["batch"]))
            is_first = address not in lock.publication.followed
            gone = replaced_captures(before, [row]) if is_first else frozenset[str]()
            opened = self._open_tables(lock)
            found = _NewNames()
            tables = results_by_key(
                opened, lambda name: self._commit_batch(name, opened[name], batch, gone, found)
            )
            rows = [one for one in before if one["capture"] not in {*gone, capture}]
            marks = marks_left(lock, before, gone) | {address: dict(batch.mark)}
            version = lock.publication.version + 1
            appended = Appended(version, found.names, found.pending, frozenset(found.joined))
            batch.before_commit(appended)
            self._commit_publication(lock, tables, [*rows, dict(row)], marks)
            return appended

    def _check_order(self, lock: PublishLock, address: str, number: int) -> None:
        """Raises an error if the last publication is not that of the previous batch."""
        mark = lock.publication.followed.get(address)
        last = None if mark is None else int(mark["batch"])
        if number != (1 if last is None else last + 1):
            cause = "another run has replaced or removed it, or follows it too"
            raise LakeError(f"{address} cannot be followed any further: {cause}", self._lake)

    def _commit_batch(
        self, name: str, table: Table, batch: Batch, gone: frozenset[str], found: _NewNames
    ) -> Table:
        active = {one.name: one for one in table.active_files()}
        remove = [self._active(name, one, active) for one in batch.removed.get(name, ())]
        names = batch.joined.get(name, ())
        listed = [*batch.files.get(name, ())]
        # Another run may have compacted these files in the meantime.
        if names and all(one in active for one in names):
            remove += [active[one] for one in names]
            listed = [*batch.joined_files.get(name, ()), *listed]
            found.joined.add(name)
        cleared = gone | ({str(batch.row["capture"])} if name in batch.cleared else set())
        if cleared:
            out, kept = without_captures(self._lake, name, table, cleared, self._scratch)
            remove = [*{one.name: one for one in (*remove, *out)}.values()]
            listed += [one._asdict() for one in kept]
        add = [self._place(name, file) for file in listed]
        found.names[name] = [(one.name, one.size) for one in add]
        pending = [
            self._place(name, file, PENDING_MARK[1:]) for file in batch.pending.get(name, ())
        ]
        found.pending[name] = [one.name for one in pending]
        add += pending
        if not add and len(remove) == len(active):
            add.append(self._empty_file(name))
        if not add and not remove:
            return table
        transaction = _application(str(batch.row["address"])), int(batch.mark["batch"])
        return table.commit(add, remove, {"run": self._run}, transaction)

    def _active(self, table: str, name: str, active: Mapping[str, ActiveFile]) -> ActiveFile:
        if name not in active:
            cause = f"another program has rewritten the table {table}"
            hint = "drop the capture (zenlake lake drop) and follow it again"
            raise LakeError(f"{cause}: {hint}", self._lake)
        return active[name]


class _NewNames:
    """Collects the names that files get in the lake."""

    def __init__(self) -> None:
        self.names: dict[str, list[tuple[str, int]]] = {}
        self.pending: dict[str, list[str]] = {}
        self.joined: set[str] = set()


def _application(address: str) -> str:
    """The application name in the Delta transactions of a followed capture."""
    return f"zenlake-follow-{hashlib.sha256(address.encode()).hexdigest()[:16]}"
