"""The third task, on one machine: staged tables into those that are put together, by DuckDB.

The same SQL as on a cluster, where Spark runs it (`derive.py`). Files hold one capture each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from zenlake.lake.duck import BUILDS, Build, Engine, Frame, build_tables
from zenlake.lake.pipeline.tasks import Job, Result
from zenlake.lake.reading.parquet_files import ParquetFiles
from zenlake.lake.schema import TABLES

IN_MEMORY_BYTES_MAX: Final = 8 << 20
"""Of staged files, which are compressed: with fewer bytes all steps fit into memory together."""
_BATCHES_IN_A_GROUP: Final = 8
_OF_ONE_CAPTURE: Final = frozenset({"samples"})
"""Tables of which each frame has the rows of one capture, and need not be sorted."""


def derive_captures(job: Job) -> Result:
    """`tasks` are the files of each; gives what was written: capture, table, path.

    `tables` are those that are wanted, all without it; others may be written too.
    """
    folder = Path(job["folder"])
    wanted = job.get("tables", TABLES)
    builds = [build for build in BUILDS if not build.gives.isdisjoint(wanted)]
    if not builds:
        return {"files": []}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What Python does for one table, DuckDB need not wait for with another.
        is_small = _staged_bytes(job) < IN_MEMORY_BYTES_MAX
        # To share small steps among threads takes longer than to do them.
        threads = 1 if is_small else job["threads"]
        with (
            Engine(folder, threads, is_small) as engine,
            ThreadPoolExecutor(len(builds)) as pool,
        ):
            writers = list(pool.map(lambda build: _put_together(engine, job, build), builds))
    except duckdb.Error as error:
        return {"failure": f"{' '.join(str(error).split())}: {folder}"}
    except OSError as error:
        # What fails while Arrow takes rows from DuckDB has no number, and says itself what it is.
        return {"failure": f"{error.strerror or ' '.join(str(error).split())}: {folder}"}
    return {"files": [file for writer in writers for file in writer.found]}


def _staged_bytes(job: Job) -> int:
    paths = [path for files in job["tasks"] for found in files.values() for path in found]
    return sum(os.path.getsize(path) for path in paths)


def _put_together(engine: Engine, job: Job, build: Build) -> _Writer:
    with engine.beside() as own:
        writer = _Writer(own, Path(job["folder"]), len(job["captures"]) > 1)
        captures = [job["captures_file"]]
        tables = build_tables(own, job["tasks"], captures, writer.keep, [build])
        wanted = job.get("tables", TABLES)
        for name, frames in tables.items():
            if name in wanted and name not in writer.kept:
                for frame in frames:
                    writer.write(name, frame)
    return writer


class _Writer:
    """Writes tables; what is read again is read from their files, unless it is small."""

    def __init__(self, engine: Engine, folder: Path, has_several: bool) -> None:
        self.found: list[tuple[str, str, str]] = []
        """Capture, table, path."""
        self.kept: set[str] = set()
        self._engine = engine
        self._folder = folder
        self._has_several = has_several
        """Captures."""

    def keep(self, name: str, frame: Frame) -> Frame:
        if name not in TABLES:
            return self._engine.keep(frame)
        self.kept.add(name)
        if self._engine.is_small:
            frame = self._engine.keep(frame)
            self.write(name, frame)
            return frame
        return self._engine.read(TABLES[name], self.write(name, frame))

    def write(self, name: str, frame: Frame) -> list[str]:
        before = len(self.found)
        if self._has_several and name not in _OF_ONE_CAPTURE:
            frame = frame.sortWithinPartitions("capture")
        for capture, parts in groupby(_parts(frame), lambda part: part[0]):
            self.found += _written(self._folder, name, capture, (part[1] for part in parts))
        return [path for _, _, path in self.found[before:]]


def _parts(frame: Frame) -> Iterator[tuple[str, pa.Table]]:
    """Rows of one capture each, in the order of captures; not too few at a time."""
    held: list[pa.RecordBatch] = []
    for batch in frame.batches():
        held.append(batch)
        if len(held) == _BATCHES_IN_A_GROUP:
            yield from _by_capture(held)
            held = []
    if held:
        yield from _by_capture(held)


def _by_capture(batches: list[pa.RecordBatch]) -> Iterator[tuple[str, pa.Table]]:
    table = pa.Table.from_batches(batches)
    captures = table.column("capture")
    names = captures.unique().to_pylist()
    if len(names) == 1:
        yield names[0], table
        return
    for name in names:
        yield name, table.filter(pc.equal(captures, name))


def _written(
    folder: Path, name: str, capture: str, parts: Iterator[pa.Table]
) -> Iterator[tuple[str, str, str]]:
    files = ParquetFiles(folder, TABLES)
    for part in parts:
        files.write({name: [part]})
    for one in files.close():
        yield capture, name, one.path
