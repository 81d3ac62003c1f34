"""Removal of captures from a table, file by file.

Most files have rows of one capture and are removed. Small captures share files: such a file is
replaced by a copy without the removed rows.
"""

from __future__ import annotations

from pathlib import Path

from zenlake.lake.address import Address
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import Files
from zenlake.lake.parquet.parquet_files import WrittenFile
from zenlake.lake.parquet.row_removal import rewrite_without
from zenlake.lake.publish.delta_table import ActiveFile, Table
from zenlake.lake.stored_files import fetch


def without_captures(
    lake: Address, name: str, table: Table, gone: frozenset[str], folder: Path
) -> tuple[list[ActiveFile], list[WrittenFile]]:
    """The files to remove, and new files with those of their rows that stay."""
    remove: list[ActiveFile] = []
    kept: list[WrittenFile] = []
    for file in table.active_files():
        if not _may_hold(file, gone):
            continue
        if file.first_capture == file.last_capture and file.first_capture in gone:
            remove.append(file)
            continue
        place = lake / name / file.name
        # Tables change in parallel, and a task uses the same file name in all tables.
        written = rewrite_without(fetch(place, folder / "fetched" / name), name, gone, folder)
        if written is not None:
            remove.append(file)
            kept += [written] if written.rows else []
    return remove, kept


def without_rows(files: Files, gone: frozenset[str], folder: Path) -> Files:
    """Unpublished files without the rows of some captures."""
    found: Files = {}
    for name, listed in files.items():
        for file in listed:
            path = Path(str(file["path"]))
            if not path.exists():
                raise LakeError("another run has read the same captures meanwhile: run again")
            written = rewrite_without(path, name, gone, folder)
            if written is None:
                found.setdefault(name, []).append(file)
            elif written.rows:
                found.setdefault(name, []).append(written._asdict())
    return found


def _may_hold(file: ActiveFile, gone: frozenset[str]) -> bool:
    """Whether a file may have rows of these captures, by the bounds in the log."""
    low, high = file.first_capture, file.last_capture
    if low is None or high is None:
        return True
    return any(low <= one <= high for one in gone)
