"""CaptureTables: tables in a temporary folder, which are read like those of a lake."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake import exit_cleanups
from zenlake.lake.address import LOCAL, Address
from zenlake.lake.derive.derive_task import derive_captures
from zenlake.lake.derive.needed import read_for
from zenlake.lake.direct.surveying import survey
from zenlake.lake.direct.workers import Workers
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import Paths, paths_by_table
from zenlake.lake.jobs import Job, Result
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.merge.read_task import read_capture
from zenlake.lake.plan.capture_names import size_of
from zenlake.lake.plan.inputs import Input, inputs_of
from zenlake.lake.plan.survey_task import TASKS_PER_CORE
from zenlake.lake.publish.manifest import CaptureEntry, Manifest
from zenlake.lake.publish.snapshot import Snapshot
from zenlake.lake.schema import TABLES

OnStep = Callable[[str, Path, int], None]
"""Called when a step begins, with its name, the folder of progress files and the bytes to read."""

PROCESS_BYTES_MIN: Final = 8 << 20
"""From this total size on, worker processes read the captures."""
_CAPTURES: Final = "captures"
_COPIES: Final = "copies"
"""The folder of captures in stores, until they have been read."""
_SAMPLES: Final = "samples"
_EMPTY_FILE: Final = "empty.parquet"


class CaptureTables:
    """Tables of captures, with snapshots like a `Store`'s; they exist while their folder does."""

    def __init__(
        self,
        folder: Path,
        captures: Sequence[CaptureEntry],
        damaged: list[str],
        names: Paths,
    ) -> None:
        self._folder = folder
        self._captures = captures
        self._names = names
        """Names of files, by table."""
        self.damaged = damaged
        """Captures that were read as far as possible."""

    @property
    def directory(self) -> Path:
        """The path for error messages: the capture, or the common folder of several."""
        try:
            return Path(os.path.commonpath([one.path for one in self._captures]))
        except ValueError:  # a relative and an absolute path, or no path at all
            return Path()

    def snapshot(self) -> Snapshot:
        entries = {one.path: one for one in self._captures}
        manifest = Manifest(0, tuple(TABLES), entries)
        return Snapshot(0, Address(LOCAL, str(self._folder)), manifest, self._files_of)

    def _files_of(self, table: str) -> list[str]:
        """Files with rows; if there are none, a file that only has the columns."""
        return self._names.get(table) or [_EMPTY_FILE]


@contextmanager
def read(
    paths: Sequence[str],
    tables: Collection[str] | None = None,
    on_step: OnStep = lambda name, place, size: None,
    as_read: Collection[str] = (),
) -> Iterator[CaptureTables]:
    """Reads captures, folders and patterns into all tables, or into some (others are empty).

    In the tables `as_read`, columns that need other messages are null: `trace_id` of samples.

    The files are in `TMPDIR` and need about as much space as the captures. They are removed at the
    end of the `with`. A capture that cannot be read is an error.
    """
    inputs = inputs_of(paths)
    with exit_cleanups.temporary_folder() as folder:
        processes = (os.cpu_count() or 1) if is_large(inputs) else 0
        with _writing(folder), Workers(processes) as workers, _thresholds_kept():
            reader = _Reader(folder, inputs, workers, on_step)
            found = reader.read(TABLES if tables is None else tables, as_read)
        yield found


@contextmanager
def no_rows() -> Iterator[CaptureTables]:
    """All tables, without rows."""
    with exit_cleanups.temporary_folder() as folder:
        with _writing(folder):
            _write_empty_files(folder)
        yield CaptureTables(folder, [], [], {})


class _Reader:
    """Runs the steps of the pipeline in a folder."""

    def __init__(
        self, folder: Path, inputs: list[Input], workers: Workers, on_step: OnStep
    ) -> None:
        self._folder = folder
        self._tables = folder / "tables"
        self._inputs = inputs
        self._workers = workers
        self._on_step = on_step

    def read(self, tables: Collection[str], as_read: Collection[str]) -> CaptureTables:
        derived = [name for name in tables if name not in as_read]
        captures = self._survey()
        parts = self._read(captures, [*read_for(derived), *as_read])
        shutil.rmtree(self._folder / _COPIES, ignore_errors=True)
        rows = [
            capture_row({**one, "path": one["capture"]}, found)
            for one, found in zip(captures, parts, strict=True)
        ]
        tasks = [paths_by_table(part["files"]) for found in parts for part in found]
        files: Paths = {}
        for task in tasks:
            for table, paths in task.items():
                files.setdefault(table, []).extend(paths)
        self._write_captures(rows, files)
        self._derive(tasks, files, derived)
        _write_empty_files(self._tables)
        entries = [
            CaptureEntry(row["capture"], row["sha256"], row["bytes"], {}, {}) for row in rows
        ]
        damaged = [one["capture"] for one in rows if one["error"]]
        names = {table: [Path(path).name for path in paths] for table, paths in files.items()}
        return CaptureTables(self._tables, entries, damaged, names)

    def _survey(self) -> list[Result]:
        place = self._step("survey")
        jobs: list[Job] = [
            {
                "path": one.path,
                "survey": str(place / f"{number}.npz"),
                "copies": str(self._folder / _COPIES / str(number)),
                "tasks": TASKS_PER_CORE * (os.cpu_count() or 1),
            }
            for number, one in enumerate(self._inputs)
        ]
        results = self._workers.run(survey, jobs)
        return [
            {**_checked(result, one), "capture": one.capture, "survey": job["survey"]}
            for job, one, result in zip(jobs, self._inputs, results, strict=True)
        ]

    def _read(self, captures: list[Result], only: list[str]) -> list[list[Result]]:
        """The results of all splits, for each capture."""
        place = self._step("read", sum(one["size"] for one in captures))
        jobs: list[Job] = []
        numbers: list[int] = []
        for number, capture in enumerate(captures):
            for split in range(capture["splits"]) or (None,):
                progress = place / f"progress-{number}-{split or 0}"
                places = {"folder": str(self._tables), "progress": str(progress)}
                jobs.append({**capture, **places, "split": split, "only": only})
                numbers.append(number)
        found: list[list[Result]] = [[] for _ in captures]
        results = self._workers.run(read_capture, jobs)
        for number, result in zip(numbers, results, strict=True):
            found[number].append(_checked(result, self._inputs[number]))
        return found

    def _write_captures(self, rows: list[dict[str, Any]], files: Paths) -> None:
        place = self._tables / _CAPTURES
        place.mkdir(parents=True, exist_ok=True)
        path = place / "captures.parquet"
        pq.write_table(pa.Table.from_pylist(rows, TABLES[_CAPTURES].arrow), path)
        files[_CAPTURES] = [str(path)]

    def _derive(self, tasks: list[Paths], files: Paths, tables: Collection[str]) -> None:
        """Derives tables, adds their files to `files`; copies of samples replace the originals."""
        self._step("derive")
        job: Job = {
            "tasks": tasks,
            "captures_file": files[_CAPTURES][0],
            "folder": str(self._tables),
            "threads": os.cpu_count() or 1,
            "tables": list(tables),
        }
        (result,) = self._workers.run(derive_captures, [job])
        if "failure" in result:
            raise LakeError(result["failure"])
        if result["copies"]:
            files[_SAMPLES] = [result["copies"].get(path, path) for path in files[_SAMPLES]]
        for file in result["files"]:
            files.setdefault(file["table"], []).append(file["path"])

    def _step(self, name: str, size: int = 0) -> Path:
        place = self._folder / name
        place.mkdir()
        self._on_step(name, place, size)
        return place


def _checked(result: Result, one: Input) -> Result:
    """The result of a job; raises its error with the path of the capture as the user wrote it."""
    problem = result.get("error") or result.get("failure")
    if problem is not None:
        # A capture in a store was read from a copy.
        paths = {one.path, str(result.get("path", one.path))}
        text = str(problem)
        for path in paths:
            text = text.replace(path, one.capture)
        raise LakeError(text)
    return result


def is_large(inputs: list[Input]) -> bool:
    """Whether reading the captures takes longer than starting processes for it."""
    return sum(size_of(one.path) for one in inputs) >= PROCESS_BYTES_MIN


def _write_empty_files(folder: Path) -> None:
    """Writes a file with the columns for each table, in case it has no rows."""
    for name, table in TABLES.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(table.arrow.empty_table(), folder / name / _EMPTY_FILE)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turns an OSError, such as that of a full disk, into a LakeError."""
    try:
        yield
    except OSError as error:
        raise LakeError.from_os(error, folder) from None


@contextmanager
def _thresholds_kept() -> Iterator[None]:
    """Restores the thresholds of garbage collection, which reading changes."""
    before = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*before)
