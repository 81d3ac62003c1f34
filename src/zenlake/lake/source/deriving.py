"""Deriving: the derived tables of whole captures, made by the task of the pipeline."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.derive.derive_task import derive_captures
from zenlake.lake.derive.needed import read_for
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import Paths, paths_by_table
from zenlake.lake.jobs import Job, Result
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.merge.read_task import read_capture
from zenlake.lake.plan.file_digest import sha256_of
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.written import WRITTEN
from zenlake.lake.source import stored
from zenlake.lake.source.options import Tolerance
from zenlake.lake.source.planning import present, unpack

_CAPTURES: Final = "captures"
_SAMPLES: Final = "samples"
_TRACE_ID: Final = "trace_id"


class _Unreadable(LakeError):
    """The capture cannot be read; unlike an error of the disk, this may be tolerated."""


def derive_rows(jobs: list[Job], table: str, tolerance: Tolerance) -> Iterator[pa.Table]:
    """Reads captures into files of a temporary folder and derives rows, in bounded memory."""
    with TemporaryDirectory(prefix="zenlake-") as name:
        folder = Path(name)
        needed = read_for([table])
        tasks: list[Paths] = []
        rows = []
        for number, job in enumerate(present(jobs, tolerance)):
            try:
                rows.append(_read(job, table, needed, folder / str(number), tasks))
            except _Unreadable:
                if not tolerance.corrupt:
                    raise
        captures = pa.Table.from_pylist(rows, TABLES[_CAPTURES].arrow)
        if table == _CAPTURES:
            yield captures
            return
        captures_file = folder / "captures.parquet"
        pq.write_table(captures, captures_file)
        files = {"tasks": tasks, "captures_file": str(captures_file)}
        result = derive_captures({**files, "folder": str(folder / "derived"), "tables": [table]})
        if "failure" in result:
            raise LakeError(result["failure"], jobs[0]["capture"])
        for path in _paths(table, tasks, result):
            yield from _row_groups(path, table)


def _paths(table: str, tasks: list[Paths], result: Result) -> list[str]:
    if table in WRITTEN:
        read = [path for files in tasks for path in files.get(table, ())]
        return [result["copies"].get(path, path) for path in read]
    return paths_by_table(result["files"]).get(table, [])


def _row_groups(path: str, table: str) -> Iterator[pa.Table]:
    names = TABLES[table].base.names
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, names)


def _read(
    job: Job, table: str, needed: list[str], folder: Path, tasks: list[Paths]
) -> dict[str, Any]:
    """Adds the files of a capture to `tasks`; returns its row of `captures`."""
    places = {"folder": str(folder / "tables"), "progress": str(folder / "progress")}
    opened = unpack(job, folder)
    result = read_capture({**opened, **places, "only": needed})
    if "error" in result:
        raise _Unreadable(stored.as_given(result["error"], opened, job))
    if "failure" in result:
        raise LakeError(result["failure"])
    tasks.append(paths_by_table(result["files"]))
    # The hash is made only for `captures`: it needs another pass over the file.
    sha256 = sha256_of(opened["path"]) if table == _CAPTURES else None
    stored.remove_copy(folder)
    return capture_row({**job, "path": job["capture"], "sha256": sha256}, [result])


def is_derived(table: str, columns: Collection[str]) -> bool:
    """Whether any of these columns is derived, not written by a reader."""
    return table not in WRITTEN or (table == _SAMPLES and _TRACE_ID in columns)
