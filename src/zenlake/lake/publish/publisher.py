"""Publisher: the files of a run into all tables, and the publication that shows them.

Tables are committed one by one, each on its own log; readers of the lake go on with the versions
of the last publication. What a dead run has committed and not published is undone by the next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from zenlake import exit_cleanups
from zenlake.lake.address import Address
from zenlake.lake.merge.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.publish import old_format
from zenlake.lake.publish.delta_table import ActiveFile, DataFile, Table
from zenlake.lake.publish.errors import LakeError
from zenlake.lake.publish.places import move, names_in, put_file, remove_file
from zenlake.lake.publish.publication_log import Publication
from zenlake.lake.publish.removal import without_captures, without_rows
from zenlake.lake.publish.settings import TABLE_SETTINGS
from zenlake.lake.publish.turn import OwnTurn, own_turn
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION
from zenlake.limits import LAKE_SMALL_FILES_MAX

CAPTURES: Final = "captures"
COMPACTED_BYTES: Final = 128 << 20
SMALL_BYTES: Final = 16 << 20
_AT_ONCE: Final = 8
"""Commits; each waits for the store most of the time."""

Files = Mapping[str, Sequence[Mapping[str, Any]]]


class Publisher:
    """The work of one run in its turn."""

    def __init__(self, lake: Address, run: str, staging: Address) -> None:
        self._lake = lake
        self._run = run
        self._staging = staging
        self._placed: list[Address] = []
        """Files that are in tables' folders and in no version yet."""
        self._scratch = Path()

    def publish(
        self, captures: Sequence[Mapping[str, Any]], files: Files, remove: frozenset[str]
    ) -> int:
        with self._turn() as turn:
            before = self._capture_rows(turn)
            new = [row for row in captures if not _is_known(before, row)]
            replaced = _replaced(before, new)
            unknown = sorted(remove - {str(row["capture"]) for row in before})
            if unknown:
                raise LakeError(f"no capture {unknown[0]!r} in it", self._lake)
            gone = remove | replaced
            if turn.publication.version and not new and not gone:
                return turn.publication.version
            if len(new) < len(captures):
                # Another run has read some of them meanwhile; its rows stand.
                gone_again = {str(row["capture"]) for row in captures if row not in new}
                files = self._without(files, gone_again)
            return self._publish(turn, before, new, files, gone)

    def compact(self) -> int:
        """Rows stay; the number of the version in which small files are together."""
        with self._turn() as turn:
            if not turn.publication.version:
                raise LakeError("there is no lake", self._lake)
            tables = self._opened(turn)
            before = {name: table.version for name, table in tables.items()}
            compacted = {name: self._compacted(turn, one, 1) for name, one in tables.items()}
            if before == {name: table.version for name, table in compacted.items()}:
                return turn.publication.version
            return self._show(turn, compacted, self._capture_rows(turn), changed=False)

    def vacuum(self, hours: int) -> dict[str, int]:
        with self._turn() as turn:
            found = {}
            tables = self._opened(turn)
            for name, table in {CAPTURES: turn.captures, **tables}.items():
                turn.renew()
                found[name] = len(table.vacuum(hours))
            # Vacuuming is told in the logs, so the tables have newer versions.
            turn.captures = self._reload()
            if turn.publication.version:
                tables = {name: self._must_open(name) for name in tables}
                self._show(turn, tables, self._capture_rows(turn), changed=False)
            return found

    # The turn.

    @contextmanager
    def _turn(self) -> Iterator[OwnTurn]:
        if self._lake.is_local and old_format.is_there(self._lake):
            old_format.convert(self._lake)
        captures = Table.open(self._lake / CAPTURES) or self._created(CAPTURES)
        with (
            self._scratch_folder(),
            own_turn(self._run, captures, self._reload) as (turn, dead),
        ):
            if dead is not None:
                self._remove_files_of(dead.run)
            try:
                yield turn
            except BaseException:
                if not turn.is_published:
                    for place in self._placed:
                        remove_file(place)
                raise

    @contextmanager
    def _scratch_folder(self) -> Iterator[None]:
        """For files that are made here: in the lake where they are moved from there."""
        if self._staging.is_local:
            self._scratch = Path(self._staging.path)
            yield
            return
        with exit_cleanups.temporary_folder() as folder:
            self._scratch = folder
            yield

    def _reload(self) -> Table:
        return self._must_open(CAPTURES)

    def _must_open(self, name: str) -> Table:
        found = Table.open(self._lake / name)
        if found is None:
            raise LakeError(f"the table {name} is missing", self._lake)
        return found

    def _remove_files_of(self, run: str) -> None:
        for name in TABLES:
            for file in names_in(self._lake / name):
                if run and file.startswith(run):
                    remove_file(self._lake / name / file)

    # Tables.

    def _created(self, name: str) -> Table:
        return Table.create(self._lake / name, TABLES[name].arrow, TABLE_SETTINGS)

    def _opened(self, turn: OwnTurn) -> dict[str, Table]:
        """All tables but `captures`, at their newest versions, as the last publication has them."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            names = [name for name in TABLES if name != CAPTURES]
            found = pool.map(lambda name: self._ready(name, turn.publication), names)
            return dict(zip(names, found, strict=True))

    def _ready(self, name: str, publication: Publication) -> Table:
        table = Table.open(self._lake / name) or self._created(name)
        published = publication.tables.get(name, 0)
        if table.version > published and any(
            version > published for version, facts in table.facts() if "run" in facts
        ):
            table = table.restore(published, {"undone": True})
        if missing := set(TABLES[name].names) - set(table.column_names):
            table = table.add_columns(TABLES[name].arrow, {"columns": sorted(missing)})
        return table

    def _compacted(self, turn: OwnTurn, table: Table, small_files_max: int) -> Table:
        small = [one for one in table.active_files() if one.size < SMALL_BYTES]
        if len(small) <= small_files_max:
            return table
        turn.renew()
        return table.compact(COMPACTED_BYTES, {"run": self._run})

    # Files.

    def _publish(
        self,
        turn: OwnTurn,
        before: list[dict[str, Any]],
        new: Sequence[Mapping[str, Any]],
        files: Files,
        gone: frozenset[str],
    ) -> int:
        tables = self._opened(turn)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            changed = pool.map(
                lambda name: self._changed(name, tables[name], files.get(name, ()), gone), tables
            )
            tables = dict(zip(tables, changed, strict=True))
        turn.renew()
        limit = LAKE_SMALL_FILES_MAX
        tables = {name: self._compacted(turn, one, limit) for name, one in tables.items()}
        rows = [row for row in before if row["capture"] not in gone]
        rows += [dict(row) for row in new]
        return self._show(turn, tables, rows, changed=True)

    def _changed(
        self, name: str, table: Table, files: Sequence[Mapping[str, Any]], gone: frozenset[str]
    ) -> Table:
        if table.has_committed(self._run):
            return table
        add = [self._place(name, file) for file in files]
        remove: list[ActiveFile] = []
        if gone:
            remove, kept = without_captures(self._lake, name, table, gone, self._scratch)
            add += [self._place(name, one._asdict()) for one in kept]
        if not table.active_files() and not add:
            add.append(self._empty_file(name))
        if not add and not remove:
            return table
        return table.commit(add, remove, {"run": self._run}, self._run)

    def _place(self, table: str, file: Mapping[str, Any]) -> DataFile:
        """Where readers look for it; a task may have put it there already."""
        path = str(file["path"])
        folder = self._lake / table
        name = f"{self._run}-{os.path.basename(path)}"
        target = folder / name
        if not path.startswith(str(folder) + "/"):
            self._placed.append(target)
            if path.startswith(str(self._staging) + "/"):
                move(Address(self._lake.scheme, _path_of(path, self._lake)), target)
            else:
                put_file(Path(path), target)
        else:
            name = os.path.basename(path)
            self._placed.append(folder / name)
        return DataFile(name, int(file["size"]), int(file["rows"]), str(file["stats"]))

    def _empty_file(self, table: str) -> DataFile:
        """So that a reader of Parquet files finds the columns where there are no rows."""
        return self._place(table, self._written(table, [])._asdict())

    def _written(self, table: str, rows: list[dict[str, Any]]) -> WrittenFile:
        with_columns = pa.Table.from_pylist(rows, TABLES[table].arrow)
        files = ParquetFiles(self._scratch, TABLES)
        files.write({table: [with_columns]})
        [written] = files.close()
        return written

    def _without(self, files: Files, captures: set[str]) -> Files:
        """Files of these captures only are left out; the others lose their rows."""
        return without_rows(files, captures, self._scratch)

    # The publication.

    def _capture_rows(self, turn: OwnTurn) -> list[dict[str, Any]]:
        from zenlake.lake.publish.store import read_captures

        if not turn.publication.version:
            return []
        version = turn.publication.captures_version
        table = Table.open(self._lake / CAPTURES, version)
        return [] if table is None else read_captures(table, self._lake)

    def _show(
        self, turn: OwnTurn, tables: Mapping[str, Table], rows: list[dict[str, Any]], changed: bool
    ) -> int:
        """Commits `captures`, whose commit is the publication."""
        versions = {name: table.version for name, table in tables.items()}
        publication = Publication(turn.publication.version + 1, SCHEMA_VERSION, versions)
        files: dict[str, Any] = {}
        if changed:
            rows = sorted(rows, key=lambda row: str(row["capture"]))
            written = self._written(CAPTURES, rows)
            files["add"] = [self._place(CAPTURES, written._asdict())]
            files["remove"] = turn.captures.active_files()
        turn.publish(publication, **files)
        return publication.version


def _is_known(before: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> bool:
    return any(
        one["address"] == row["address"]
        and one["sha256"] == row["sha256"]
        and one["schema_version"] == row["schema_version"]
        for one in before
    )


def _replaced(
    before: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> frozenset[str]:
    """Captures whose rows the new ones stand for: of the same address, or the same name."""
    addresses = {row["address"] for row in new}
    names = {row["capture"] for row in new}
    return frozenset(
        str(one["capture"])
        for one in before
        if one["address"] in addresses or one["capture"] in names
    )


def _path_of(path: str, lake: Address) -> str:
    """Of an address in a lake, without the scheme."""
    prefix = "" if lake.is_local else f"{lake.scheme}://"
    return path.removeprefix(prefix)
