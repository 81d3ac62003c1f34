"""The next version of a lake: what its manifest says, and where each of its files comes from."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from zenlake.lake.store.errors import LakeError
from zenlake.lake.store.files import flush, has_same_content, place, write_durably
from zenlake.lake.store.layout import EMPTY_FILE, MANIFEST_FILE, Layout
from zenlake.lake.store.manifest import CaptureEntry, Manifest

_PATH_DIGITS: Final = 12


@dataclass(frozen=True)
class CaptureFiles:
    """A capture to be added: its content, and the Parquet files of its rows by table."""

    sha256: str
    size: int
    files: Mapping[str, list[Path]]
    rows: Mapping[str, int]
    info: Mapping[str, Any] = field(default_factory=dict)


class _Source(NamedTuple):
    """A file of the next version, and the file it comes from."""

    table: str
    name: str
    file: Path
    is_new: bool


class Plan:
    """Reads the disk when it is made, writes only when it is built."""

    def __init__(
        self,
        layout: Layout,
        before: Manifest,
        add: Mapping[str, CaptureFiles],
        remove: AbstractSet[str],
        empty_files: Mapping[str, Path],
    ) -> None:
        unknown = sorted(remove - before.captures.keys())
        if unknown:
            raise LakeError(f"no capture {unknown[0]!r} in it", layout.root)
        self._before = before
        self._old = layout.version(before.version)
        self._sources: list[_Source] = []
        tables = tuple(dict.fromkeys((*before.tables, *empty_files)))
        schemas_changed = [self._add_empty(table, empty_files.get(table)) for table in tables]
        captures = {}
        for path in sorted({*before.captures, *add} - (remove - add.keys())):
            captures[path] = self._added(path, add[path]) if path in add else self._kept(path)
        self.manifest = Manifest(before.version + 1, time.time_ns(), tables, captures)
        self.changes_nothing = bool(before.version and not (add or remove or any(schemas_changed)))
        for source in self._sources:
            if source.table not in tables:
                raise LakeError(f"table {source.table!r} has no empty file", layout.root)

    def _add_empty(self, table: str, given: Path | None) -> bool:
        """Whether it differs from what the table has."""
        old = self._old / table / EMPTY_FILE
        is_new = given is not None and not has_same_content(given, old)
        self._sources.append(_Source(table, EMPTY_FILE, given if given and is_new else old, is_new))
        return is_new

    def _kept(self, path: str) -> CaptureEntry:
        entry = self._before.captures[path]
        for table, names in entry.files.items():
            folder = self._old / table
            self._sources += [_Source(table, name, folder / name, False) for name in names]
        return entry

    def _added(self, path: str, new: CaptureFiles) -> CaptureEntry:
        """Names say where from and when, so that no name ever stands for two contents."""
        prefix = hashlib.sha256(os.fsencode(path)).hexdigest()[:_PATH_DIGITS]
        names: dict[str, list[str]] = {}
        for table, files in new.files.items():
            for file in files:
                # The last number runs through the version: paths may share their prefix.
                name = f"{prefix}-{self._before.version + 1}-{len(self._sources)}.parquet"
                self._sources.append(_Source(table, name, file, True))
                names.setdefault(table, []).append(name)
        return CaptureEntry(path, new.sha256, new.size, names, dict(new.rows), dict(new.info))

    def build(self, target: Path) -> None:
        """The version in its folder, on the disk to the last byte."""
        target.mkdir()
        for table in self.manifest.tables:
            (target / table).mkdir()
        for source in self._sources:
            place(source.file, target / source.table / source.name, source.is_new)
        write_durably(target / MANIFEST_FILE, self.manifest.to_json())
        for table in self.manifest.tables:
            flush(target / table)
        flush(target)
        flush(target.parent)
