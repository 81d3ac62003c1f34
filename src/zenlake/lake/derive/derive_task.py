"""The task that derives tables on DuckDB: of whole captures, of one split, or across the splits.

Memory is limited. DuckDB writes to the disk what does not fit; if a step still runs out of memory,
all steps run again one after the other, with one thread, in smaller parts, and at last with more
memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple, cast
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zenlake.lake.derive.duck import BUILDS, Build, Engine, Frame, build_tables
from zenlake.lake.derive.duck.build import ACROSS_SPLITS, EVENTS_MAX, OF_SPLIT, PUBLICATIONS
from zenlake.lake.derive.latency_rows import LATENCIES, latency_tables, ordered
from zenlake.lake.derive.publication_parts import ROW_BYTES, PublicationParts
from zenlake.lake.derive.steps import latencies
from zenlake.lake.jobs import Job, Result
from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.parquet.trace_ids import replace_trace_ids
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.spanning import SPANNING
from zenlake.limits import DERIVE_BYTES_MAX

IN_MEMORY_BYTES_MAX: Final = 8 << 20
"""Bytes of staged files, which are compressed, up to which all steps fit into memory together."""
_BATCHES_IN_A_GROUP: Final = 8
_SAMPLES: Final = "samples"
_OF_PUBLICATIONS: Final = frozenset((_SAMPLES, LATENCIES))
"""Tables that are written from the files of `samples`."""
_MEASURED: Final = "measured"
"""The step whose rows have each `trace_id` and latency."""
_SCOPES: Final = {"captures": BUILDS, "split": OF_SPLIT, "across": ACROSS_SPLITS}
_KINDS: Final = {**TABLES, **SPANNING}


class Attempt(NamedTuple):
    """Limits with which the steps run."""

    threads: int
    memory_bytes: int
    events_max: int
    at_once: int
    """Builds that run at the same time."""


def attempts(threads: int, memory_bytes: int) -> list[Attempt]:
    """From the fastest attempt to the one that needs the least memory, then with more memory."""
    found = [
        # With one core, builds that alternate would only evict each other's data from its caches.
        Attempt(threads, memory_bytes, EVENTS_MAX, min(threads, len(BUILDS))),
        Attempt(1, memory_bytes, EVENTS_MAX // 4, 1),
    ]
    found += [Attempt(1, memory_bytes * more, EVENTS_MAX // 16, 1) for more in (2, 4)]
    return found


def derive_captures(job: Job) -> Result:
    """`tasks` are the files of each task by table, `captures_file` has the rows of that table.

    `folder` is for output, `threads` and `memory_bytes` are limits, `tables` are the wanted ones
    (all without it), `scope` is one of `captures`, `split`, `across`. Returns `files`, and in
    `copies`, by path, files of `samples` that replace those that were read.
    """
    wanted = job.get("tables", _KINDS)
    chosen = _SCOPES[job.get("scope", "captures")]
    builds = [build for build in chosen if not build.gives.isdisjoint(wanted)]
    if not builds:
        return {"files": [], "copies": {}}
    folder = Path(job["folder"])
    plan = attempts(job.get("threads", 1), job.get("memory_bytes", DERIVE_BYTES_MAX))
    for number, attempt in enumerate(plan):
        place = folder / f"derived-{number}-{os.getpid()}"
        try:
            writers = _derived(job, builds, place, attempt)
        except (duckdb.Error, OSError) as error:
            shutil.rmtree(place, ignore_errors=True)
            if attempt is plan[-1] or not _is_out_of_memory(error):
                # An error while Arrow reads rows from DuckDB has no `strerror`.
                cause = getattr(error, "strerror", None) or _one_line(error)
                return {"failure": f"{cause}: {folder}"}
        else:
            files = [one._asdict() for writer in writers for one in writer.found]
            copies = {old: new for writer in writers for old, new in writer.copies.items()}
            return {"files": files, "copies": copies}
    raise AssertionError("an attempt ends in a result")


def _derived(job: Job, builds: list[Build], folder: Path, attempt: Attempt) -> list[_Writer]:
    folder.mkdir(parents=True, exist_ok=True)
    is_small = staged_bytes(job["tasks"]) < IN_MEMORY_BYTES_MAX
    # Dividing small steps among threads takes longer than running them.
    threads = 1 if is_small else attempt.threads
    with (
        Engine(folder, threads, is_small, attempt.memory_bytes) as engine,
        # While Python writes one table, DuckDB can work on another.
        ThreadPoolExecutor(attempt.at_once) as pool,
    ):
        return list(pool.map(lambda build: _put_together(engine, job, build, attempt), builds))


def staged_bytes(tasks: list[dict[str, list[str]]]) -> int:
    paths = [path for files in tasks for found in files.values() for path in found]
    return sum(os.path.getsize(path) for path in paths)


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out, also if Arrow was reading rows and raised an error of its own."""
    return isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory Error" in str(error)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _put_together(engine: Engine, job: Job, build: Build, attempt: Attempt) -> _Writer:
    with engine.second_connection() as own:
        writer = _Writer(own, Path(job["folder"]))
        wanted = job.get("tables", _KINDS)
        rows = _rows_of_samples(job["tasks"]) if build is PUBLICATIONS else 0
        rows_max = attempt.memory_bytes // ROW_BYTES
        if rows > rows_max:
            writer.measure_in_parts(job["tasks"], rows, rows_max)
            tables: dict[str, list[Frame]] = {}
        else:
            captures, limit = [job["captures_file"]], attempt.events_max
            tables = build_tables(own, job["tasks"], captures, writer.keep, [build], limit)
        for name, frames in tables.items():
            if name in wanted and name not in writer.kept and name not in _OF_PUBLICATIONS:
                for frame in frames:
                    writer.write(name, frame)
        if not _OF_PUBLICATIONS.isdisjoint(build.gives):
            paths = [path for files in job["tasks"] for path in files.get(_SAMPLES, ())]
            writer.write_publications(paths, _OF_PUBLICATIONS.intersection(wanted))
    return writer


class _Writer:
    """Writes tables. Large frames that are read again are read from their files."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.found: list[WrittenFile] = []
        self.kept: set[str] = set()
        self.copies: dict[str, str] = {}
        """Copies of files of `samples` with the final `trace_id`, by the original path."""
        self._measured: Frame | PublicationParts | None = None
        self._engine = engine
        self._folder = folder

    def keep(self, name: str, frame: Frame) -> Frame:
        if name == _MEASURED:
            self._measured = frame = self._engine.keep(frame)
            return frame
        if name not in TABLES:
            return self._engine.keep(frame)
        self.kept.add(name)
        if self._engine.is_small:
            frame = self._engine.keep(frame)
            self.write(name, frame)
            return frame
        return self._engine.read(TABLES[name], self.write(name, frame))

    def measure_in_parts(self, tasks: list[dict[str, list[str]]], rows: int, rows_max: int) -> None:
        """Finds publications with memory for fewer rows than there are."""
        paths = [path for files in tasks for path in files.get(_SAMPLES, ())]
        samples = self._engine.read(TABLES[_SAMPLES], paths)
        folder = self._folder / f"parts-{uuid4().hex}"
        self._measured = PublicationParts(self._engine, samples, rows, rows_max, folder)

    def write(self, name: str, frame: Frame) -> list[str]:
        files = ParquetFiles(self._folder, _KINDS)
        for part in _parts(frame):
            files.write({name: [part]})
        written = files.close()
        self.found += written
        return [one.path for one in written]

    def write_publications(self, paths: list[str], wanted: Collection[str]) -> None:
        """Writes `latencies`, and copies of files of `samples` in which a `trace_id` changes."""
        kind = TABLES[_SAMPLES]
        samples = cast(Any, self._engine.read(kind, paths))
        publishers = self._engine.keep(cast(Frame, latencies.publishers_of(samples)))
        files = ParquetFiles(self._folder, _KINDS)
        for path in paths:
            measured = self._measured_in(path)
            if measured is None:
                continue
            rows = self._engine.read_rows(kind, path, ("capture", "session", "seq", "time_ns"))
            step = latencies.of_rows(*cast(Any, (rows, measured, publishers)))
            batches = [*cast(Frame, step).batches()]
            if not batches:
                continue
            found = ordered(pa.Table.from_batches(batches))
            if LATENCIES in wanted:
                files.write({LATENCIES: latency_tables(Path(path), found)})
            target = self._folder / _SAMPLES / f"{uuid4().hex}.parquet"
            if _SAMPLES in wanted and replace_trace_ids(Path(path), target, found):
                self.copies[path] = str(target)
        self.found += files.close()

    def _measured_in(self, path: str) -> Frame | None:
        """Only for rows that the file may have: a join keeps its right side in memory."""
        bounds = _bounds_of_seq(path)
        if self._measured is None or bounds is None:
            return None
        low, high = bounds
        if isinstance(self._measured, PublicationParts):
            return self._measured.between(low, high)
        return self._measured.filtered(f"seq BETWEEN {low} AND {high}")


def _rows_of_samples(tasks: list[dict[str, list[str]]]) -> int:
    paths = [path for files in tasks for path in files.get(_SAMPLES, ())]
    return sum(int(pq.read_metadata(path).num_rows) for path in paths)


def _bounds_of_seq(path: str) -> tuple[int, int] | None:
    """The smallest and the largest `seq` in a file; None if it has no rows."""
    found = pc.min_max(pq.read_table(path, columns=["seq"])["seq"]).as_py()
    return None if found["min"] is None else (found["min"], found["max"])


def _parts(frame: Frame) -> Iterator[pa.Table]:
    """Tables of several batches, so that row groups are not too small."""
    held: list[pa.RecordBatch] = []
    for batch in frame.batches():
        held.append(batch)
        if len(held) == _BATCHES_IN_A_GROUP:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
