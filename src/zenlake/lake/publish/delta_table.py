"""One Delta table of a lake, through delta-rs: versions, files, commits.

`commit` makes all commits. It creates the version after the one that was loaded, or raises
`ConcurrentCommit` if another writer has created that version: so a writer has always read the
version before its commit.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from zenlake.lake.address import Address, s3_endpoint
from zenlake.lake.errors import LakeError
from zenlake.lake.path_safety import check_file_name
from zenlake.lake.publish.delta_rs import (
    AddAction,
    CommitFailedError,
    CommitProperties,
    DeltaError,
    DeltaTable,
    PostCommitHookProperties,
    RemoveAction,
    Schema,
    TableNotFoundError,
    Transaction,
    WriterProperties,
    create_table_with_add_actions,
)
from zenlake.limits import LAKE_RETENTION_HOURS_MAX

METADATA_KEY: Final = "zenlake"
"""The key of zenlake's facts in the commit information."""
_UNREADABLE: Final = re.compile(r"%[0-9A-Fa-f]{2}|[\\\\\x00-\x1f]")
"""Characters that delta-rs misreads in a path."""
_SETTINGS: Final = {
    # Other writers keep statistics of so many columns, with which readers skip files.
    "delta.dataSkippingNumIndexedCols": "40",
    "delta.deletedFileRetentionDuration": f"interval {LAKE_RETENTION_HOURS_MAX} hours",
    "delta.logRetentionDuration": f"interval {LAKE_RETENTION_HOURS_MAX} hours",
    "delta.checkpointInterval": "20",
}
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


class ConcurrentCommit(Exception):
    """Another writer has committed since the table was loaded."""


class DataFile(NamedTuple):
    """A Parquet file of a table: its name in the table's folder, size and statistics."""

    name: str
    size: int
    rows: int
    stats: str
    """The statistics as the Delta protocol writes them."""


class ActiveFile(NamedTuple):
    """A file of a version of a table."""

    name: str
    size: int
    first_capture: str | None
    last_capture: str | None
    """Bounds of the column `capture`; None if not known."""


class Table:
    """A table at one version."""

    def __init__(self, address: Address, table: DeltaTable) -> None:
        self._address = address
        self._table = table

    @classmethod
    def open(cls, address: Address, version: int | None = None) -> Table | None:
        """The newest version of a table; None if there is no such table."""
        with _as_lake_errors(address):
            try:
                options = storage_options(address)
                return cls(address, DeltaTable(_uri(address), version, storage_options=options))
            except TableNotFoundError:
                return None

    @classmethod
    def create(cls, address: Address, schema: pa.Schema) -> Table:
        if address.is_local:
            os.makedirs(address.path, exist_ok=True)
        with _as_lake_errors(address):
            create_table_with_add_actions(
                _uri(address),
                Schema.from_arrow(schema.remove_metadata()),
                [],
                mode="ignore",
                configuration=_SETTINGS,
                storage_options=storage_options(address),
            )
        made = cls.open(address)
        if made is None:
            raise LakeError("the table was created and is not there", address)
        return made

    @property
    def version(self) -> int:
        return int(self._table.version())

    @property
    def column_names(self) -> list[str]:
        return [field.name for field in self._table.schema().fields]

    def files(self) -> list[str]:
        """Names of the files, sorted."""
        return sorted(one.name for one in self.active_files())

    def active_files(self) -> list[ActiveFile]:
        with _as_lake_errors(self._address):
            rows = pa.table(self._table.get_add_actions(flatten=False)).to_pylist()
        found = []
        for row in rows:
            low, high = row.get("min") or {}, row.get("max") or {}
            captures = low.get("capture"), high.get("capture")
            check_file_name(unquote(row["path"]), self._address)
            found.append(ActiveFile(row["path"], row["size_bytes"], *captures))
        return found

    def has_committed(self, run: str) -> bool:
        """Whether the table has the rows of this run already."""
        return self._table.transaction_version(run) is not None

    def commit(
        self,
        add: Sequence[DataFile] = (),
        remove: Sequence[ActiveFile] = (),
        facts: Mapping[str, Any] | None = None,
        transaction: tuple[str, int] | None = None,
    ) -> Table:
        """Adds and removes files; returns the table at the next version.

        `transaction` is the name of an application and the number of its transaction. Delta keeps
        the last number of each application for ever.
        """
        now_ms = time.time_ns() // 1_000_000
        actions: list[AddAction | RemoveAction] = [
            AddAction(one.name, one.size, {}, now_ms, True, one.stats) for one in add
        ]
        actions += [RemoveAction(one.name, True, now_ms, one.size, {}) for one in remove]
        properties = CommitProperties(
            custom_metadata={METADATA_KEY: dict(facts or {})},
            max_commit_retries=0,
            app_transactions=[Transaction(*transaction)] if transaction is not None else None,
        )
        with _as_lake_errors(self._address):
            try:
                self._table.create_write_transaction(
                    actions,
                    "append",
                    self._table.schema(),
                    commit_properties=properties,
                    post_commithook_properties=PostCommitHookProperties(),
                )
            except CommitFailedError as error:
                raise ConcurrentCommit(str(error)) from None
        return self._again()

    def restore(self, version: int, facts: Mapping[str, Any]) -> Table:
        """Makes the content of an older version the newest one."""
        with _as_lake_errors(self._address):
            self._table.restore(
                version, ignore_missing_files=True, commit_properties=_properties(facts)
            )
        return self._again()

    def add_columns(self, schema: pa.Schema, facts: Mapping[str, Any]) -> Table:
        """Adds missing columns, which are null in existing rows."""
        known = set(self.column_names)
        fields = Schema.from_arrow(schema.remove_metadata()).fields
        with _as_lake_errors(self._address):
            self._table.alter.add_columns(
                [one for one in fields if one.name not in known],
                commit_properties=_properties(facts),
            )
        return self._again()

    def compact(self, target_bytes: int, facts: Mapping[str, Any]) -> Table:
        """Joins small files; rows do not change."""
        with _as_lake_errors(self._address):
            self._table.optimize.compact(
                target_size=target_bytes,
                max_concurrent_tasks=1,
                writer_properties=WriterProperties(compression="ZSTD", compression_level=1),
                commit_properties=_properties(facts),
            )
        return self._again()

    def vacuum(self, hours: int) -> list[str]:
        """Deletes files that no version of the last `hours` needs; returns their names."""
        with _as_lake_errors(self._address):
            return list(
                self._table.vacuum(
                    retention_hours=hours,
                    dry_run=False,
                    enforce_retention_duration=False,
                    full=True,
                )
            )

    def checkpoint(self) -> None:
        with _as_lake_errors(self._address):
            self._table.create_checkpoint()

    def facts(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Versions that zenlake committed and the facts of each commit, the newest first.

        Read from the log itself: `history` of delta-rs finds nothing under a path with a `#`.
        """
        for version in range(self.version, -1, -1):
            text = self._commit_text(version)
            if text is None:  # cleaned up
                return
            facts = _facts_of(text)
            if facts:
                yield version, facts

    def _commit_text(self, version: int) -> str | None:
        place = self._address / "_delta_log" / f"{version:020d}.json"
        with _as_lake_errors(self._address):
            try:
                with place.filesystem.open_input_stream(place.fs_path) as stream:
                    return str(stream.read().decode("utf-8", "replace"))
            except FileNotFoundError:
                return None

    def _again(self) -> Table:
        found = Table.open(self._address)
        if found is None:
            raise LakeError("the table disappeared", self._address)
        return found


def _facts_of(commit: str) -> dict[str, Any]:
    """The facts that zenlake wrote to a commit, whose actions are a line each."""
    for line in commit.splitlines():
        if '"commitInfo"' in line:
            try:
                facts = json.loads(line)["commitInfo"].get(METADATA_KEY)
            except (AttributeError, LookupError, TypeError, ValueError):
                continue
            return facts if isinstance(facts, dict) else {}
    return {}


def _properties(facts: Mapping[str, Any]) -> CommitProperties:
    return CommitProperties(custom_metadata={METADATA_KEY: dict(facts)})


def _uri(address: Address) -> str:
    """The address for delta-rs, which needs `#`, `%` and `?` in a local path quoted."""
    if _UNREADABLE.search(address.path):
        cause = "the path of a lake must have no backslash, control character or %xx in it"
        raise LakeError(cause, address)
    return Path(address.path).as_uri() if address.is_local else str(address)


def storage_options(address: Address) -> dict[str, str] | None:
    """Options that the environment cannot set: endpoints without TLS must be allowed explicitly."""
    if address.scheme != "s3":
        return None
    endpoint = s3_endpoint()
    options = {"AWS_ENDPOINT_URL": endpoint} if endpoint else {}
    return options | ({"AWS_ALLOW_HTTP": "true"} if endpoint.startswith("http:") else {})


@contextmanager
def _as_lake_errors(address: Address) -> Iterator[None]:
    try:
        yield
    except DeltaError as error:
        raise LakeError(_in_one_line(error), address) from None
    except OSError as error:
        cause = error.strerror or _in_one_line(error)
        raise LakeError(cause, address) from error


def _in_one_line(error: Exception) -> str:
    """The error without the colour codes that delta-rs writes into its messages."""
    return " ".join(_COLOUR.sub("", str(error)).split())
