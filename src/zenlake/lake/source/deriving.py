"""Deriving: derived tables of whole captures, by the same steps as in the pipeline.

A task has no Spark session, so the steps run on DuckDB (`lake/derive/duck`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.derive.duck import BUILDS, Engine, build_tables
from zenlake.lake.errors import LakeError
from zenlake.lake.jobs import Job
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.merge.read_task import read_capture
from zenlake.lake.plan.file_digest import sha256_of
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.written import WRITTEN
from zenlake.lake.source.options import Tolerance
from zenlake.lake.source.planning import present, unpack

_CAPTURES: Final = "captures"
_SAMPLES: Final = "samples"
_TRACE_ID: Final = "trace_id"


class _Unreadable(LakeError):
    """The capture cannot be read; the disk works."""


def derive_rows(jobs: list[Job], table: str, tolerance: Tolerance) -> Iterator[pa.Table]:
    """Reads captures into files of a temporary folder and derives rows, in bounded memory."""
    with TemporaryDirectory(prefix="zenlake-") as name:
        folder = Path(name)
        needed = _sources(table)
        tasks: list[dict[str, list[str]]] = []
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
        captures_file = str(folder / "captures.parquet")
        pq.write_table(captures, captures_file)
        with Engine(folder) as engine:
            try:
                for batch in _batches(engine, tasks, captures_file, table):
                    yield pa.Table.from_batches([batch])
            except duckdb.Error as error:
                raise LakeError(" ".join(str(error).split()), jobs[0]["capture"]) from None


def _batches(
    engine: Engine, tasks: list[dict[str, list[str]]], captures_file: str, table: str
) -> Iterator[pa.RecordBatch]:
    builds = [build for build in BUILDS if table in build.gives]
    frames = build_tables(engine, tasks, [captures_file], builds=builds)[table]
    if table not in WRITTEN:
        for frame in frames:
            yield from frame.batches()
        return
    # There is a frame for each task with rows. An empty frame means that the rows did not change.
    read = [files[table] for files in tasks if table in files]
    for frame, files in zip(frames, read, strict=False):
        batches = frame.batches()
        first = next(batches, None)
        if first is None:
            batches = engine.read(WRITTEN[table], files).batches()
        else:
            yield first
        yield from batches


def _read(
    job: Job, table: str, needed: frozenset[str], folder: Path, tasks: list[dict[str, list[str]]]
) -> dict[str, Any]:
    """Adds the files of a capture to `tasks`; its row of `captures`."""
    places = {"folder": str(folder / "tables"), "progress": str(folder / "progress")}
    result = read_capture({**unpack(job, folder), **places, "only": sorted(needed)})
    if "error" in result:
        raise _Unreadable(result["error"])
    if "failure" in result:
        raise LakeError(result["failure"])
    tasks.append({file["table"]: [file["path"]] for file in result["files"]})
    # Only `captures` has the hash, which needs another pass over the file.
    sha256 = sha256_of(job["path"]) if table == _CAPTURES else None
    return capture_row({**job, "path": job["capture"], "sha256": sha256}, [result])


@cache
def _sources(table: str) -> frozenset[str]:
    """The tables that it is derived from, found by building the steps without rows."""
    with TemporaryDirectory(prefix="zenlake-") as folder, Engine(Path(folder)) as engine:
        found = build_tables(engine, [], []).get(table, [])
        return frozenset[str]().union(*(one.sources for one in found)) - {_CAPTURES}


def is_derived(table: str, columns: Collection[str]) -> bool:
    """Whether these columns are derived, and not written by a reader."""
    return table not in WRITTEN or (table == _SAMPLES and _TRACE_ID in columns)
