"""Publisher: adds the files of a run to all tables, and commits the publication.

Each table is committed in its own log; until the publication, readers use the versions of the last
one. The next run undoes the commits of a run that died before its publication.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from zenlake import exit_cleanups
from zenlake.lake.address import Address, parse
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import File, Files
from zenlake.lake.parquet.joining import joined_files
from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.publish import old_format
from zenlake.lake.publish.captures_table import CAPTURES, read_captures
from zenlake.lake.publish.delta_table import ActiveFile, DataFile, Table
from zenlake.lake.publish.publication_log import FollowMark, Publication
from zenlake.lake.publish.publish_lock import PublishLock, hold_lock
from zenlake.lake.publish.removal import without_captures, without_rows
from zenlake.lake.publish.requests import results_by_key
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION
from zenlake.lake.stored_files import fetch, move, names_in, put_file, remove_file
from zenlake.limits import LAKE_SMALL_FILES_MAX

COMPACTED_BYTES: Final = 128 << 20
SMALL_BYTES: Final = 16 << 20
PENDING_MARK: Final = "-pending-"
"""A part of the names of pending files, which the next batch of a followed capture replaces."""


class Publisher:
    """One change of the lake, made under the lock."""

    def __init__(self, lake: Address, run: str, staging: Address) -> None:
        self._lake = lake
        self._run = run
        self._staging = staging
        self._placed: list[Address] = []
        """Files in the folders of tables that belong to no version yet."""
        self._scratch = Path()

    def publish(
        self, captures: Sequence[Mapping[str, Any]], files: Files, remove: frozenset[str]
    ) -> int:
        with self._locked() as lock:
            before = self._capture_rows(lock)
            new = [row for row in captures if not _is_known(before, row)]
            replaced = replaced_captures(before, new)
            unknown = sorted(remove - {str(row["capture"]) for row in before})
            if unknown:
                raise LakeError(f"no capture {unknown[0]!r} in it", self._lake)
            gone = remove | replaced
            if lock.publication.version and not new and not gone:
                return lock.publication.version
            if len(new) < len(captures):
                # Another run has added some of these captures in the meantime; its rows stay.
                known = frozenset(str(row["capture"]) for row in captures if row not in new)
                files = without_rows(files, known, self._scratch)
            return self._publish(lock, before, new, files, gone)

    def compact(self) -> int:
        """Joins small files; returns the number of the new version."""
        with self._locked() as lock:
            if not lock.publication.version:
                raise LakeError("there is no lake", self._lake)
            tables = self._open_tables(lock)
            before = {name: table.version for name, table in tables.items()}
            compacted = {
                name: self._compact_table(lock, name, one, 1) for name, one in tables.items()
            }
            if before == {name: table.version for name, table in compacted.items()}:
                return lock.publication.version
            return self._commit_publication(lock, compacted, None, lock.publication.followed)

    def vacuum(self, hours: int) -> dict[str, int]:
        with self._locked() as lock:
            found = {}
            tables = self._open_tables(lock)
            for name, table in {CAPTURES: lock.captures, **tables}.items():
                lock.renew()
                found[name] = len(table.vacuum(hours))
            # Vacuuming commits to the logs, so the tables have newer versions.
            lock.captures = self._must_open(CAPTURES)
            if lock.publication.version:
                tables = {name: self._must_open(name) for name in tables}
                self._commit_publication(lock, tables, None, lock.publication.followed)
            return found

    # --- the lock ----------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Iterator[PublishLock]:
        if self._lake.is_local and old_format.is_there(self._lake):
            old_format.convert(self._lake)
        captures = Table.open(self._lake / CAPTURES) or self._create(CAPTURES)
        with (
            self._scratch_folder(),
            hold_lock(self._run, captures, partial(self._must_open, CAPTURES)) as (lock, dead),
        ):
            if dead is not None:
                self._remove_files_of(dead.run)
            try:
                yield lock
            except BaseException:
                if not lock.is_published:
                    for place in self._placed:
                        remove_file(place)
                raise

    @contextmanager
    def _scratch_folder(self) -> Iterator[None]:
        """A folder for files that this process writes; in the lake if that is local."""
        if self._staging.is_local:
            self._scratch = Path(self._staging.path)
            yield
            return
        with exit_cleanups.temporary_folder() as folder:
            self._scratch = folder
            yield

    def _must_open(self, name: str) -> Table:
        found = Table.open(self._lake / name)
        if found is None:
            raise LakeError(f"the table {name} is missing", self._lake)
        return found

    def _remove_files_of(self, run: str) -> None:
        for name in TABLES:
            for file in names_in(self._lake / name):
                # The names of all runs of one process have the same prefix.
                if run and file.startswith(f"{run}-"):
                    remove_file(self._lake / name / file)

    # --- tables ------------------------------------------------------------------------------

    def _create(self, name: str) -> Table:
        return Table.create(self._lake / name, TABLES[name].arrow)

    def _open_tables(self, lock: PublishLock) -> dict[str, Table]:
        """All tables but `captures`, with the content of the last publication."""
        names = (name for name in TABLES if name != CAPTURES)
        return results_by_key(names, lambda name: self._open_published(name, lock.publication))

    def _open_published(self, name: str, publication: Publication) -> Table:
        """Opens or creates a table; undoes the commits of a run that died, and adds columns."""
        if name in publication.tables:
            table = self._must_open(name)
        else:
            table = Table.open(self._lake / name) or self._create(name)
        published = publication.tables.get(name, 0)
        if table.version > published and any(
            version > published for version, facts in table.facts() if "run" in facts
        ):
            table = table.restore(published, {"undone": True})
        if missing := set(TABLES[name].names) - set(table.column_names):
            table = table.add_columns(TABLES[name].arrow, {"columns": sorted(missing)})
        return table

    def _compact_table(
        self, lock: PublishLock, name: str, table: Table, small_files_max: int
    ) -> Table:
        """Joins small files, but not the pending ones of captures that are followed."""
        files = table.active_files()
        small = [one for one in files if one.size < SMALL_BYTES and not is_pending(one.name)]
        if len(small) <= small_files_max:
            return table
        lock.renew()
        if len(small) == len(files) or not any(is_pending(one.name) for one in files):
            return table.compact(COMPACTED_BYTES, {"run": self._run})
        # delta-rs cannot exclude files from compaction.
        add: list[DataFile] = []
        for group in _groups(small):
            places = [fetch(self._lake / name / one.name, self._scratch / name) for one in group]
            add.append(self._place(name, joined_files(places, name, self._scratch)._asdict()))
        return table.commit(add, small, {"run": self._run})

    # --- files -------------------------------------------------------------------------------

    def _publish(
        self,
        lock: PublishLock,
        before: list[dict[str, Any]],
        new: Sequence[Mapping[str, Any]],
        files: Files,
        gone: frozenset[str],
    ) -> int:
        opened = self._open_tables(lock)
        tables = results_by_key(
            opened, lambda name: self._commit_files(name, opened[name], files.get(name, ()), gone)
        )
        lock.renew()
        limit = LAKE_SMALL_FILES_MAX
        tables = {name: self._compact_table(lock, name, one, limit) for name, one in tables.items()}
        rows = [row for row in before if row["capture"] not in gone]
        rows += [dict(row) for row in new]
        return self._commit_publication(lock, tables, rows, marks_left(lock, before, gone))

    def _commit_files(
        self, name: str, table: Table, files: Iterable[File], gone: frozenset[str]
    ) -> Table:
        if table.has_committed(self._run):
            return table
        add = [self._place(name, file) for file in files]
        remove: list[ActiveFile] = []
        if gone:
            remove, kept = without_captures(self._lake, name, table, gone, self._scratch)
            add += [self._place(name, one._asdict()) for one in kept]
        if len(table.active_files()) == len(remove) and not add:
            add.append(self._empty_file(name))
        if not add and not remove:
            return table
        return table.commit(add, remove, {"run": self._run}, (self._run, 1))

    def _place(self, table: str, file: File, mark: str = "") -> DataFile:
        """Moves a file to the folder of its table, unless a task has put it there."""
        path = str(file["path"])
        folder = self._lake / table
        is_placed = path.startswith(f"{folder}/")
        name = os.path.basename(path)
        if not is_placed:
            name = f"{self._run}-{mark}{name}"
        target = folder / name
        self._placed.append(target)
        if path.startswith(f"{self._staging}/"):
            move(parse(path), target)
        elif not is_placed:
            put_file(Path(path), target)
        return DataFile(name, int(file["size"]), int(file["rows"]), str(file["stats"]))

    def _empty_file(self, table: str) -> DataFile:
        """A file without rows, so that readers of Parquet find the columns of an empty table."""
        return self._place(table, self._write_rows(table, [])._asdict())

    def _write_rows(self, table: str, rows: list[dict[str, Any]]) -> WrittenFile:
        with_columns = pa.Table.from_pylist(rows, TABLES[table].arrow)
        files = ParquetFiles(self._scratch, TABLES)
        files.write({table: [with_columns]})
        [written] = files.close()
        return written

    # --- the publication ---------------------------------------------------------------------

    def _capture_rows(self, lock: PublishLock) -> list[dict[str, Any]]:
        if not lock.publication.version:
            return []
        version = lock.publication.captures_version
        table = Table.open(self._lake / CAPTURES, version)
        return [] if table is None else read_captures(table, self._lake)

    def _commit_publication(
        self,
        lock: PublishLock,
        tables: Mapping[str, Table],
        rows: list[dict[str, Any]] | None,
        followed: Mapping[str, FollowMark],
    ) -> int:
        """Commits `captures`, with new rows if any; this commit is the publication."""
        versions = {name: table.version for name, table in tables.items()}
        publication = Publication(
            lock.publication.version + 1, SCHEMA_VERSION, versions, followed=followed
        )
        files: dict[str, Any] = {}
        if rows is not None:
            rows = sorted(rows, key=lambda row: str(row["capture"]))
            written = self._write_rows(CAPTURES, rows)
            files["add"] = [self._place(CAPTURES, written._asdict())]
            files["remove"] = lock.captures.active_files()
        lock.publish(publication, **files)
        return publication.version


def _is_known(before: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> bool:
    return any(
        one["address"] == row["address"]
        and one["sha256"] == row["sha256"]
        and one["schema_version"] == row["schema_version"]
        for one in before
    )


def replaced_captures(
    before: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> frozenset[str]:
    """Captures that the new ones replace: those with the same address or the same name."""
    addresses = {row["address"] for row in new}
    names = {row["capture"] for row in new}
    return frozenset(
        str(one["capture"])
        for one in before
        if one["address"] in addresses or one["capture"] in names
    )


def marks_left(
    lock: PublishLock, before: Sequence[Mapping[str, Any]], gone: frozenset[str]
) -> dict[str, FollowMark]:
    """The marks of followed captures that stay in the lake."""
    addresses = {row["address"] for row in before if row["capture"] in gone}
    return {name: mark for name, mark in lock.publication.followed.items() if name not in addresses}


def _groups(files: Sequence[ActiveFile]) -> Iterator[list[ActiveFile]]:
    """Groups of files, each of which becomes one file of at most `COMPACTED_BYTES`."""
    held: list[ActiveFile] = []
    for file in files:
        if held and sum(one.size for one in held) + file.size > COMPACTED_BYTES:
            yield held
            held = []
        held.append(file)
    if held:
        yield held


def is_pending(name: str) -> bool:
    """Whether a file has rows of a followed capture that its next batch replaces."""
    return PENDING_MARK in name
