"""What a version of a lake consists of: JSON beside the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION
from zenlake.lake.store.errors import LakeError

_T = TypeVar("_T")
_SCHEMA_BEFORE_ENTRIES: Final = 1
"""Of captures that do not say theirs."""
# What reading a document of another shape raises.
_DAMAGE: Final = (AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class CaptureEntry:
    """One capture in a version: its content, and its files and rows by table."""

    path: str
    sha256: str
    size: int
    files: Mapping[str, list[str]]
    rows: Mapping[str, int]
    info: Mapping[str, Any]
    schema_version: int = SCHEMA_VERSION
    """Of the tables that it was read into; what later ones have more is not there."""


@dataclass(frozen=True)
class Manifest:
    """A version; number 0 is the lake before its first one."""

    version: int = 0
    created_ns: int = 0
    tables: tuple[str, ...] = ()
    captures: Mapping[str, CaptureEntry] = field(default_factory=dict)

    def has(self, path: str, sha256: str) -> bool:
        """Whether this very content was read from this path, into all tables there are now."""
        entry = self.captures.get(path)
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

    def files(self, table: str) -> list[str]:
        """The names of a table's files that hold rows."""
        return [name for entry in self.captures.values() for name in entry.files.get(table, ())]

    def to_json(self) -> str:
        document = {
            "schema_version": SCHEMA_VERSION,
            "version": self.version,
            "created_ns": self.created_ns,
            "tables": self.tables,
            "captures": [asdict(entry) for entry in self.captures.values()],
        }
        return json.dumps(document, indent=1)


def read_manifest(path: Path, version: int) -> Manifest:
    """The manifest at `path`; FileNotFoundError is the caller's to explain."""
    try:
        document = json.loads(path.read_bytes())
        schema_version = _typed(document["schema_version"], int)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LakeError.from_os(error, path) from None
    except _DAMAGE as error:
        raise _damaged(path, error) from None
    if schema_version > SCHEMA_VERSION:
        cause = f"written by a newer zenlake (schema {schema_version}, known: {SCHEMA_VERSION})"
        raise LakeError(cause, path)
    try:
        if document["version"] != version:
            raise ValueError(f"it says version {document['version']}")
        entries = [_entry(item) for item in document["captures"]]
        return Manifest(
            version,
            _typed(document["created_ns"], int),
            tuple(_typed(table, str) for table in document["tables"]),
            {entry.path: entry for entry in entries},
        )
    except _DAMAGE as error:
        raise _damaged(path, error) from None


def _entry(item: dict[str, Any]) -> CaptureEntry:
    return CaptureEntry(
        _typed(item["path"], str),
        _typed(item["sha256"], str),
        _typed(item["size"], int),
        {table: [_typed(name, str) for name in names] for table, names in item["files"].items()},
        {table: _typed(rows, int) for table, rows in item["rows"].items()},
        _typed(item["info"], dict),
        _typed(item.get("schema_version", _SCHEMA_BEFORE_ENTRIES), int),
    )


def _typed(value: Any, kind: type[_T]) -> _T:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _damaged(path: Path, error: Exception) -> LakeError:
    cause = f"no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
    return LakeError(f"the manifest is damaged: {cause}", path)
