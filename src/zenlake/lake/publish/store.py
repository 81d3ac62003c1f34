"""Store: a lake at an address, its current content, and how to change it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zenlake.lake.address import Address, parse
from zenlake.lake.errors import LakeError
from zenlake.lake.publish import old_format
from zenlake.lake.publish.captures_table import CAPTURES, read_captures
from zenlake.lake.publish.delta_table import Table
from zenlake.lake.publish.manifest import Manifest, entry_of
from zenlake.lake.publish.publication_log import FollowMark, Publication, read_log
from zenlake.lake.publish.run import FOLLOWED, STAGING, Run, running
from zenlake.lake.publish.snapshot import Snapshot
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION
from zenlake.lake.stored_files import names_in


class Store:
    """The lake at an address, which need not exist yet."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.address: Address = parse(directory)
        self.given = os.fspath(directory)

    @property
    def directory(self) -> Path:
        """The address as given, for names of files made from it. `given` is the text."""
        return Path(self.given)

    def version(self) -> int | None:
        """The version that readers see; None if there is none yet."""
        if self._is_of_old_format():
            return old_format.version(self.address)
        return self._publication().version or None

    def manifest(self) -> Manifest:
        """The content of the current version; empty if there is none yet."""
        if self._is_of_old_format():
            return old_format.snapshot(self.address).manifest
        return self._manifest(self._publication())

    def snapshot(self) -> Snapshot:
        """The current version, which later publications do not change; LakeError without one."""
        if self._is_of_old_format():
            return old_format.snapshot(self.address)
        publication = self._publication()
        if not publication.version:
            self._check_folder()
            raise LakeError("there is no lake", self.given)
        manifest = self._manifest(publication)

        def names(table: str) -> list[str]:
            version = publication.captures_version
            if table != CAPTURES:
                version = publication.tables[table]
            return self._table(table, version).files()

        return Snapshot(publication.version, self.address, manifest, names)

    def followed(self, address: str) -> FollowMark | None:
        """How far a growing capture was read (`publish/appender.py`); None if no run follows it."""
        if self._is_of_old_format():
            return None
        return self._publication().followed.get(address)

    def files(self, table: str) -> list[Path]:
        """The Parquet files of a table, all of one version."""
        return self.snapshot().files(table)

    @contextmanager
    def begin(self) -> Iterator[Run]:
        """A run: one change of the lake, with a folder for files until it is published."""
        self._check_folder()
        with running(self.address) as run:
            yield run

    def _publication(self) -> Publication:
        captures = Table.open(self.address / CAPTURES)
        if captures is None:
            return Publication()
        found = read_log(captures).publication
        if found.schema_version > SCHEMA_VERSION:
            cause = f"schema {found.schema_version}, known: {SCHEMA_VERSION}"
            raise LakeError(f"written by a newer zenlake ({cause})", self.given)
        return found

    def _manifest(self, publication: Publication) -> Manifest:
        if not publication.version:
            return Manifest()
        rows = self._capture_rows(publication)
        entries = [entry_of(row) for row in rows]
        captures = {one.path: one for one in sorted(entries, key=lambda one: one.path)}
        # The publication does not list `captures`, because it is itself a commit of that table.
        tables = tuple(name for name in TABLES if name in {CAPTURES, *publication.tables})
        return Manifest(publication.version, tables, captures)

    def _capture_rows(self, publication: Publication) -> list[dict[str, object]]:
        return read_captures(self._table(CAPTURES, publication.captures_version), self.address)

    def _table(self, name: str, version: int) -> Table:
        found = Table.open(self.address / name, version)
        if found is None:
            raise LakeError(f"the table {name} is missing", self.given)
        return found

    def _is_of_old_format(self) -> bool:
        return self.address.is_local and old_format.is_there(self.address)

    def _check_folder(self) -> None:
        """Raises an error if the folder exists and is not a lake."""
        names = set(names_in(self.address))
        known = {*TABLES, STAGING, FOLLOWED, *old_format.NAMES}
        if names and names.isdisjoint(known):
            raise LakeError("the folder is not empty and is no lake: choose another", self.given)
