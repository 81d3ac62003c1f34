"""The work that puts tables together from what reading gave, on DuckDB: of whole captures, of one
split, or across the splits of a capture.

Memory is bounded. What does not fit is written to the disk by DuckDB; where a step still finds no
room, all steps run again one after the other, with one thread, in smaller parts, and at last with
more memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple, cast
from uuid import uuid4

import duckdb
import pyarrow as pa

from zenlake.lake.derive.duck import BUILDS, Build, Engine, Frame, build_tables
from zenlake.lake.derive.duck.build import ACROSS_SPLITS, EVENTS_MAX, OF_SPLIT
from zenlake.lake.derive.steps import latencies
from zenlake.lake.merge.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.merge.retracing import retrace_file
from zenlake.lake.pipeline.tasks import Job, Result
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.spanning import SPANNING
from zenlake.limits import DERIVE_BYTES_MAX

IN_MEMORY_BYTES_MAX: Final = 8 << 20
"""Of staged files, which are compressed: with fewer bytes all steps fit into memory together."""
_BATCHES_IN_A_GROUP: Final = 8
_SAMPLES: Final = "samples"
_CHANGED: Final = "changed"
"""The step that knows each `trace_id`."""
_SCOPES: Final = {"captures": BUILDS, "split": OF_SPLIT, "across": ACROSS_SPLITS}
_KINDS: Final = {**TABLES, **SPANNING}


class Attempt(NamedTuple):
    """How the steps are run."""

    threads: int
    memory_bytes: int
    events_max: int
    at_once: int
    """Builds that run at the same time."""


def attempts(threads: int, memory_bytes: int) -> list[Attempt]:
    """From the fastest to the one that needs the least at a time, then with more memory."""
    found = [
        Attempt(threads, memory_bytes, EVENTS_MAX, len(BUILDS)),
        Attempt(1, memory_bytes, EVENTS_MAX // 4, 1),
    ]
    found += [Attempt(1, memory_bytes * more, EVENTS_MAX // 16, 1) for more in (2, 4)]
    return found


def derive_captures(job: Job) -> Result:
    """`tasks` are the files of each task by table, `captures_file` has the rows of that table.

    `folder` is for what is written, `threads` and `memory_bytes` are limits; `tables` are those
    that are wanted, all without it; `scope` is one of `captures`, `split`, `across`. Gives `files`,
    and in `retraced`, by path, copies of files of `samples` that stand for the ones that were read.
    """
    wanted = job.get("tables", _KINDS)
    chosen = _SCOPES[job.get("scope", "captures")]
    builds = [build for build in chosen if not build.gives.isdisjoint(wanted)]
    if not builds:
        return {"files": [], "retraced": {}}
    folder = Path(job["folder"])
    plan = attempts(job.get("threads", 1), job.get("memory_bytes", DERIVE_BYTES_MAX))
    for number, attempt in enumerate(plan):
        place = folder / f"derived-{number}-{os.getpid()}"
        try:
            writers = _derived(job, builds, place, attempt)
        except (duckdb.Error, OSError) as error:
            shutil.rmtree(place, ignore_errors=True)
            if attempt is plan[-1] or not _is_out_of_memory(error):
                # What fails while Arrow takes rows from DuckDB has no number, and says what it is.
                cause = getattr(error, "strerror", None) or _one_line(error)
                return {"failure": f"{cause}: {folder}"}
        else:
            files = [one._asdict() for writer in writers for one in writer.found]
            retraced = {old: new for writer in writers for old, new in writer.retraced.items()}
            return {"files": files, "retraced": retraced}
    raise AssertionError("an attempt ends in a result")


def _derived(job: Job, builds: list[Build], folder: Path, attempt: Attempt) -> list[_Writer]:
    folder.mkdir(parents=True, exist_ok=True)
    is_small = staged_bytes(job["tasks"]) < IN_MEMORY_BYTES_MAX
    # To share small steps among threads takes longer than to do them.
    threads = 1 if is_small else attempt.threads
    with (
        Engine(folder, threads, is_small, attempt.memory_bytes) as engine,
        # What Python does for one table, DuckDB need not wait for with another.
        ThreadPoolExecutor(attempt.at_once) as pool,
    ):
        return list(pool.map(lambda build: _put_together(engine, job, build, attempt), builds))


def staged_bytes(tasks: list[dict[str, list[str]]]) -> int:
    paths = [path for files in tasks for found in files.values() for path in found]
    return sum(os.path.getsize(path) for path in paths)


def _is_out_of_memory(error: Exception) -> bool:
    """Also where Arrow was taking rows, and made another error of it."""
    return isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory Error" in str(error)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _put_together(engine: Engine, job: Job, build: Build, attempt: Attempt) -> _Writer:
    with engine.beside() as own:
        writer = _Writer(own, Path(job["folder"]))
        captures = [job["captures_file"]]
        tables = build_tables(own, job["tasks"], captures, writer.keep, [build], attempt.events_max)
        wanted = job.get("tables", _KINDS)
        for name, frames in tables.items():
            if name in wanted and name not in writer.kept and name != _SAMPLES:
                for frame in frames:
                    writer.write(name, frame)
        if _SAMPLES in build.gives and _SAMPLES in wanted:
            for files in job["tasks"]:
                for path in files.get(_SAMPLES, ()):
                    writer.retrace(path)
    return writer


class _Writer:
    """Writes tables; what is read again is read from their files, unless it is small."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.found: list[WrittenFile] = []
        self.kept: set[str] = set()
        self.retraced: dict[str, str] = {}
        """Files of `samples` with the `trace_id` that was found, by that of the reader."""
        self._changed: Frame | None = None
        self._engine = engine
        self._folder = folder

    def keep(self, name: str, frame: Frame) -> Frame:
        if name == _CHANGED:
            self._changed = frame = self._engine.keep(frame)
            return frame
        if name not in TABLES:
            return self._engine.keep(frame)
        self.kept.add(name)
        if self._engine.is_small:
            frame = self._engine.keep(frame)
            self.write(name, frame)
            return frame
        return self._engine.read(TABLES[name], self.write(name, frame))

    def write(self, name: str, frame: Frame) -> list[str]:
        files = ParquetFiles(self._folder, _KINDS)
        for part in _parts(frame):
            files.write({name: [part]})
        written = files.close()
        self.found += written
        return [one.path for one in written]

    def retrace(self, path: str) -> None:
        """Writes a copy of a file of `samples` if another `trace_id` was found for some row."""
        if self._changed is None:
            return
        samples = self._engine.read_rows(TABLES[_SAMPLES], path, ("capture", "session", "seq"))
        found = latencies.retraced(cast(Any, samples), cast(Any, self._changed))
        batches = [*cast(Frame, found).batches()]
        target = self._folder / _SAMPLES / f"{uuid4().hex}.parquet"
        if batches and retrace_file(Path(path), target, pa.Table.from_batches(batches)):
            self.retraced[path] = str(target)


def _parts(frame: Frame) -> Iterator[pa.Table]:
    """Not too few rows at a time."""
    held: list[pa.RecordBatch] = []
    for batch in frame.batches():
        held.append(batch)
        if len(held) == _BATCHES_IN_A_GROUP:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
