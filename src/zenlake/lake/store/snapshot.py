"""The files of one version: what a reader holds on to while others publish."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from zenlake.lake.store.errors import LakeError
from zenlake.lake.store.layout import EMPTY_FILE
from zenlake.lake.store.manifest import Manifest


@dataclass(frozen=True)
class Snapshot:
    """All tables as of one version; paths lead into that version, never through `_current`."""

    version: int
    directory: Path
    manifest: Manifest

    @property
    def tables(self) -> dict[str, Path]:
        """Each table's folder."""
        return {table: self.directory / table for table in self.manifest.tables}

    def files(self, table: str) -> list[Path]:
        """A table's Parquet files; the first is empty and has the newest schema."""
        if table not in self.manifest.tables:
            known = ", ".join(self.manifest.tables)
            raise LakeError(f"no table {table!r}, there are: {known}", self.directory)
        folder = self.directory / table
        return [folder / name for name in (EMPTY_FILE, *self.manifest.files(table))]

    def size(self, tables: Iterable[str]) -> int:
        """Bytes of the files of these tables."""
        return sum(file.stat().st_size for table in tables for file in self.files(table))
