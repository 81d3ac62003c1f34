"""A copy of a snapshot on this machine's disk, because DuckDB opens local files only.

DuckDB's extension for stores is not part of the package, and a statement must not be able to open
connections. So the files of the needed tables are copied first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from zenlake import exit_cleanups
from zenlake.lake.address import LOCAL, Address
from zenlake.lake.file_lists import Paths
from zenlake.lake.publish.manifest import Manifest
from zenlake.lake.publish.requests import results_by_key
from zenlake.lake.publish.snapshot import Snapshot
from zenlake.lake.stored_files import fetch


@contextmanager
def on_this_machine(snapshot: Snapshot, only: Collection[str] | None = None) -> Iterator[Snapshot]:
    """The snapshot itself if its files are local; else a copy of all tables, or of `only` some."""
    if snapshot.is_local:
        yield snapshot
        return
    with exit_cleanups.temporary_folder() as folder:
        yield _copy_tables(snapshot, folder, only)


def _copy_tables(snapshot: Snapshot, folder: Path, only: Collection[str] | None) -> Snapshot:
    tables = [name for name in snapshot.manifest.tables if only is None or name in only]
    files = [(table, one) for table in tables for one in snapshot.addresses(table)]
    names: Paths = {table: [] for table in tables}
    copies = results_by_key(files, lambda one: fetch(one[1], folder / one[0]))
    for (table, _), copy in copies.items():
        names[table].append(copy.name)
    manifest = Manifest(snapshot.version, tuple(tables), snapshot.manifest.captures)
    return Snapshot(
        snapshot.version, Address(LOCAL, str(folder)), manifest, lambda table: names[table]
    )
