"""Manifest: the captures and tables of a version, from the table `captures`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zenlake.lake.schema.published import READ_COUNTS
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION

COUNTS: Final = {name: name for name in READ_COUNTS} | {"queries": "hops"}
"""Tables whose rows `captures` counts, and the columns with these counts."""


@dataclass(frozen=True)
class CaptureEntry:
    """One capture in a version."""

    path: str
    """The path as given, which is `capture` in its rows."""
    sha256: str
    size: int
    rows: Mapping[str, int]
    """Number of rows, by table."""
    info: Mapping[str, Any]
    schema_version: int = SCHEMA_VERSION
    """The schema version at the time of reading; newer columns are null in its rows."""
    address: str = ""
    """The normalized address, which identifies the capture when it is read again."""


@dataclass(frozen=True)
class Manifest:
    """A version; number 0 is the lake before its first one."""

    version: int = 0
    tables: tuple[str, ...] = ()
    captures: Mapping[str, CaptureEntry] = field(default_factory=dict)
    """The captures by path, in the order of paths."""

    def at(self, address: str) -> CaptureEntry | None:
        """The capture that was read from this address."""
        return next((one for one in self.captures.values() if one.address == address), None)

    def name_at(self, address: str) -> str:
        """The name of a capture in its rows; empty if none was read from this address."""
        entry = self.at(address)
        return "" if entry is None else entry.path

    def has(self, address: str, sha256: str) -> bool:
        """Whether this content was read from this address, into the current columns."""
        entry = self.at(address)
        if entry is None or entry.schema_version != SCHEMA_VERSION:
            return False
        return entry.sha256 == sha256

    @property
    def has_older_rows(self) -> bool:
        """Whether a capture was read by an older release, into fewer columns."""
        return any(one.schema_version < SCHEMA_VERSION for one in self.captures.values())

    @property
    def is_just_read(self) -> bool:
        """Whether these are not tables of a lake, but captures that this process has read."""
        return self.version == 0


def entry_of(row: Mapping[str, Any]) -> CaptureEntry:
    """The entry of a row of the table `captures`."""
    rows = {table: row.get(column) or 0 for table, column in COUNTS.items()}
    info = {name: row.get(name) for name in ("packets", "first_ns", "last_ns", "read_ns")}
    return CaptureEntry(
        row["capture"],
        row.get("sha256") or "",
        row.get("bytes") or 0,
        rows,
        {**info, "queries": row.get("queries")},
        row.get("schema_version") or 1,
        row.get("address") or "",
    )
