"""What a version of a lake holds: its captures, as the table `captures` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION

COUNTED: Final = ("messages", "sessions", "samples", "queries")
"""Tables whose rows `captures` counts; rows of `queries` are its column `hops`."""


@dataclass(frozen=True)
class CaptureEntry:
    """One capture in a version."""

    path: str
    """As given: what its rows have as `capture`."""
    sha256: str
    size: int
    rows: Mapping[str, int]
    """By table, of those in `COUNTED`."""
    info: Mapping[str, Any]
    schema_version: int = SCHEMA_VERSION
    """Of the tables that it was read into; columns that are newer are null in its rows."""
    address: str = ""
    """Normalized: by this it is known again."""


@dataclass(frozen=True)
class Manifest:
    """A version; number 0 is the lake before its first one."""

    version: int = 0
    tables: tuple[str, ...] = ()
    captures: Mapping[str, CaptureEntry] = field(default_factory=dict)
    """By path, in the order of paths."""

    def at(self, address: str) -> CaptureEntry | None:
        """The capture that was read from there."""
        return next((one for one in self.captures.values() if one.address == address), None)

    def name_at(self, address: str) -> str:
        """What its rows have as `capture`; empty where nothing was read from there."""
        entry = self.at(address)
        return "" if entry is None else entry.path

    def has(self, address: str, sha256: str) -> bool:
        """Whether this very content was read from there, into all tables there are now."""
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
        """Whether it is no lake: this process has read the captures, into all columns."""
        return self.version == 0


def entry_of(row: Mapping[str, Any]) -> CaptureEntry:
    """From a row of the table `captures`."""
    rows = {name: row.get("hops" if name == "queries" else name) or 0 for name in COUNTED}
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
