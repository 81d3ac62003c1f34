"""Snapshot: the files of one version, which stay the same while other processes publish."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from zenlake.lake.address import Address
from zenlake.lake.errors import LakeError
from zenlake.lake.publish.manifest import Manifest
from zenlake.lake.publish.requests import results_by_key


@dataclass(frozen=True)
class Snapshot:
    """All tables as of one version."""

    version: int
    address: Address
    manifest: Manifest
    names: Callable[[str], list[str]]
    """Returns the names of a table's files in its folder; called once for each table."""
    _known: dict[str, list[str]] = field(default_factory=dict, compare=False)

    @property
    def directory(self) -> Path:
        """The address, for messages."""
        return Path(str(self.address))

    @property
    def is_local(self) -> bool:
        return self.address.is_local

    def addresses(self, table: str) -> list[Address]:
        """A table's Parquet files. The first one has the newest schema, and may have no rows."""
        if table not in self.manifest.tables:
            known = ", ".join(self.manifest.tables)
            raise LakeError(f"no table {table!r}, there are: {known}", self.address)
        if table not in self._known:
            self._known[table] = self.names(table)
        return [self.address / table / name for name in self._known[table]]

    def with_all_names(self) -> Snapshot:
        """This snapshot, with all lists of files read: delta-rs does not work after a fork."""
        missing = [table for table in self.manifest.tables if table not in self._known]
        self._known.update(results_by_key(missing, self.names))
        return self

    def files(self, table: str) -> list[Path]:
        """A table's Parquet files in a local lake."""
        return [Path(one.path) for one in self.addresses(table)]

    def size(self, tables: Iterable[str]) -> int:
        """The size of the local files of these tables in bytes."""
        return sum(file.stat().st_size for table in tables for file in self.files(table))
