"""The task that derives tables on DuckDB: of whole captures, of one split, or across the splits.

Memory is limited. DuckDB writes to the disk what does not fit; if a step still runs out of memory,
all steps run again one after the other, with one thread, in smaller parts, and at last with more
memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.derive.duck import BUILDS, Build, Engine, Frame, build_tables
from zenlake.lake.derive.duck.build import ACROSS_SPLITS, EVENTS_MAX, OF_SPLIT
from zenlake.lake.derive.publications import PROOFS, PUBLISHED, SAMPLES, PublicationFiles
from zenlake.lake.jobs import Job, Result
from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.spanning import SPANNING
from zenlake.limits import DERIVE_BYTES_MAX

IN_MEMORY_BYTES_MAX: Final = 8 << 20
"""Bytes of staged files, which are compressed, up to which all steps fit into memory together."""
_BATCHES_IN_A_GROUP: Final = 8
_PARTS_OF_MEMORY: Final = (1, 4, 16)
"""Factors for the number of parts in which publications are compared, if memory runs out."""
_PUBLICATION_TABLES: Final[dict[str, frozenset[str]]] = {
    "captures": PUBLISHED,
    "split": PUBLISHED | PROOFS,
    "across": frozenset(),
}
_SCOPES: Final = {"captures": BUILDS, "split": OF_SPLIT, "across": ACROSS_SPLITS}
_KINDS: Final = {**TABLES, **SPANNING}


class Attempt(NamedTuple):
    """Limits with which the steps run."""

    threads: int
    memory_bytes: int
    events_max: int
    at_once: int
    """How many builds run at the same time."""


def attempts(threads: int, memory_bytes: int) -> list[Attempt]:
    """Attempts in order: the fastest, one that needs little memory, then some with more memory."""
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
    try:
        files, copies = _derive_publications(job)
        files += _derive_by_sql(job)
    except _Failure as failure:
        return {"failure": str(failure)}
    return {"files": [file._asdict() for file in files], "copies": copies}


class _Failure(Exception):
    """A step failed; the text says why and in which folder."""


def _derive_publications(job: Job) -> tuple[list[WrittenFile], dict[str, str]]:
    """Makes `latencies`, and the files of `samples` whose `trace_id` changes."""
    scope = job.get("scope", "captures")
    wanted = _PUBLICATION_TABLES[scope].intersection(job.get("tables", _KINDS))
    paths = [path for files in job["tasks"] for path in files.get(SAMPLES, ())]
    if not wanted or not paths:
        return [], {}
    known = pq.read_table(job["captures_file"], columns=["sha256"])["sha256"].to_pylist()
    secret = "".join(sorted(text or "" for text in known)).encode()
    folder, memory_bytes = Path(job["folder"]), job.get("memory_bytes", DERIVE_BYTES_MAX)
    for part in _PARTS_OF_MEMORY:
        publications = PublicationFiles(folder, secret, memory_bytes // part)
        try:
            publications.write(paths, wanted)
        except MemoryError:
            continue
        except (OSError, pa.ArrowException) as error:
            raise _Failure(f"{_cause(error)}: {folder}") from None
        return publications.written, publications.copies
    raise _Failure("out of memory while publications were compared: run fewer tasks at once")


def _derive_by_sql(job: Job) -> list[WrittenFile]:
    """Makes all other tables, by SQL."""
    wanted = job.get("tables", _KINDS)
    chosen = _SCOPES[job.get("scope", "captures")]
    builds = [build for build in chosen if not build.makes.isdisjoint(wanted)]
    if not builds:
        return []
    folder = Path(job["folder"])
    plan = attempts(job.get("threads", 1), job.get("memory_bytes", DERIVE_BYTES_MAX))
    for number, attempt in enumerate(plan):
        place = folder / f"derived-{number}-{os.getpid()}"
        try:
            return _run_builds(job, builds, place, attempt)
        except (duckdb.Error, OSError) as error:
            shutil.rmtree(place, ignore_errors=True)
            if not _is_out_of_memory(error):
                raise _Failure(f"{_cause(error)}: {folder}") from None
    needed = plan[-1].memory_bytes >> 20
    raise _Failure(f"derived tables need more than {needed} MiB: use a larger --task-memory")


def _run_builds(job: Job, builds: list[Build], folder: Path, attempt: Attempt) -> list[WrittenFile]:
    folder.mkdir(parents=True, exist_ok=True)
    is_small = staged_bytes(job["tasks"]) < IN_MEMORY_BYTES_MAX
    # Dividing small steps among threads takes longer than running them.
    threads = 1 if is_small else attempt.threads
    with (
        Engine(folder, threads, is_small, attempt.memory_bytes) as engine,
        # While Python writes one table, DuckDB can work on another.
        ThreadPoolExecutor(attempt.at_once) as pool,
    ):
        found = pool.map(lambda build: _run_build(engine, job, build, attempt), builds)
        return [file for files in found for file in files]


def staged_bytes(tasks: list[dict[str, list[str]]]) -> int:
    paths = [path for files in tasks for found in files.values() for path in found]
    return sum(os.path.getsize(path) for path in paths)


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out, also if Arrow was reading rows and raised an error of its own."""
    return isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory Error" in str(error)


def _cause(error: Exception) -> str:
    """In one line. An error while Arrow reads rows from DuckDB has no `strerror`."""
    return getattr(error, "strerror", None) or " ".join(str(error).split())


def _run_build(engine: Engine, job: Job, build: Build, attempt: Attempt) -> list[WrittenFile]:
    wanted = job.get("tables", _KINDS)
    with engine.second_connection() as own:
        writer = _Writer(own, Path(job["folder"]))
        captures, limit = [job["captures_file"]], attempt.events_max
        tables = build_tables(own, job["tasks"], captures, writer.keep, [build], limit)
        for name, frames in tables.items():
            if name in wanted and name not in writer.kept:
                for frame in frames:
                    writer.write(name, frame)
    return writer.found


class _Writer:
    """Writes tables. Large frames that are read again are read from their files."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.found: list[WrittenFile] = []
        self.kept: set[str] = set()
        self._engine = engine
        self._folder = folder

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
        files = ParquetFiles(self._folder, _KINDS)
        for part in _parts(frame):
            files.write({name: [part]})
        written = files.close()
        self.found += written
        return [one.path for one in written]


def _parts(frame: Frame) -> Iterator[pa.Table]:
    """Joins batches into larger tables, so that row groups are not too small."""
    held: list[pa.RecordBatch] = []
    for batch in frame.batches():
        held.append(batch)
        if len(held) == _BATCHES_IN_A_GROUP:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
