"""Planning: divides captures into tasks.

It runs in the process in which Spark plans a query. Tasks may run on other machines, so each one
contains its part of the survey.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Final

from zenlake import trace
from zenlake.capture.recordings import is_recording, recording_bytes
from zenlake.errors import CaptureError, LocalError
from zenlake.lake.address import is_stored
from zenlake.lake.derive.duck.build import DECLARATIONS_OF_SPLIT
from zenlake.lake.errors import LakeError, cause_of
from zenlake.lake.jobs import Job
from zenlake.lake.plan.capture_names import check_is_file
from zenlake.lake.plan.grouping import balanced
from zenlake.lake.plan.inputs import Input, inputs_of, place_hint
from zenlake.lake.plan.splits import split_file
from zenlake.lake.plan.survey_task import SPLIT_BYTES, survey_splits
from zenlake.lake.source import stored
from zenlake.lake.source.options import Options, Tolerance

_PARTITIONS_PER_CORE: Final = 2
_REQUESTS_MAX: Final = 16
_ONE_SURVEY: Final = Lock()
"""The survey of a large capture takes memory and all of the processor."""
_SURVEY: Final = "survey.npz"


def tasks_for(options: Options, is_derived: bool) -> list[list[Job]]:
    """The jobs of each task: one split of a large capture, or several small captures.

    Derived tables need the whole capture, except those that are derived within one session.
    """
    tasks_max = options.partitions or _PARTITIONS_PER_CORE * cores()
    is_split = not is_derived or options.table.name in DECLARATIONS_OF_SPLIT.makes
    inputs = inputs_of(options.paths, options.files, options.tolerance.missing)
    splits_max = tasks_max if is_split else 1
    jobs = [job for found in _each_jobs(inputs, splits_max, options.tolerance) for job in found]
    tasks = [[job] for job in jobs if job["splits"]]
    small = [job for job in jobs if not job["splits"]]
    sizes = [int(job["size"]) for job in small]
    count = options.partitions or max(tasks_max, sum(sizes) // SPLIT_BYTES)
    return tasks + balanced(small, sizes, count)


def cores() -> int:
    """The cores that this process may use: Spark passes a source no facts about its cluster."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has it
        return os.cpu_count() or 1


def _each_jobs(inputs: list[Input], splits_max: int, tolerance: Tolerance) -> Iterator[list[Job]]:
    """The jobs of each capture. Several requests to a store wait at once for their answers."""

    def jobs_of(one: Input) -> list[Job]:
        return _jobs_of(one, splits_max, tolerance)

    if not any(is_stored(one.path) for one in inputs):
        yield from map(jobs_of, inputs)
        return
    pool = ThreadPoolExecutor(_REQUESTS_MAX)
    try:
        yield from pool.map(jobs_of, inputs)
    finally:
        pool.shutdown(cancel_futures=True)


def _jobs_of(one: Input, splits_max: int, tolerance: Tolerance) -> list[Job]:
    """The jobs of a capture; none if it is skipped."""
    job: Job = {"path": one.path, "capture": one.capture}
    with TemporaryDirectory(prefix="zenlake-") as folder:
        found = _surveyed(one, Path(folder), splits_max, tolerance)
        if found is None:
            return []
        job |= found
        if not found["splits"]:
            return [{**job, "split": None}]
        files = [split_file(Path(folder) / _SURVEY, split) for split in range(found["splits"])]
        return [
            {**job, "split": split, "kept": {file.name: zlib.compress(file.read_bytes(), level=1)}}
            for split, file in enumerate(files)
        ]


def _surveyed(
    one: Input, folder: Path, splits_max: int, tolerance: Tolerance
) -> dict[str, Any] | None:
    """Size and splits; None if the file is skipped. Unreadable files fail here, not in tasks,
    which Spark would retry."""
    try:
        one.capture.encode()
        size, readable = _opened(one.path, folder)
        if not size and not tolerance.corrupt and not is_recording(one.path):
            raise LakeError(
                "0 bytes: not a capture (option ignoreCorruptFiles leaves it out)", one.capture
            )
        with stored.named_as_given(one.path, one.capture), trace.open(readable) as opened:
            next(opened.steps(), None)
        with _ONE_SURVEY:
            return {"size": size, **survey_splits(one.path, size, folder / _SURVEY, splits_max)}
    except UnicodeEncodeError:
        raise LocalError(f"{one.capture!a}: its name is not UTF-8, as tables need it") from None
    except FileNotFoundError as error:
        if tolerance.missing:
            return None
        raise _not_opened(one, error) from None
    except OSError as error:
        raise _not_opened(one, error) from None
    except CaptureError:
        if tolerance.corrupt:
            return None
        raise


def _opened(path: str, folder: Path) -> tuple[int, str]:
    """The size of a capture, and a local file that shows whether it is one; OSError."""
    if is_stored(path):
        return stored.head_of(path, folder)
    check_is_file(path)
    if is_recording(path):
        return recording_bytes(path), path
    with open(path, "rb") as file:
        return os.fstat(file.fileno()).st_size, path


def _not_opened(one: Input, error: OSError) -> LakeError:
    return LakeError(f"cannot be opened: {cause_of(error)}{place_hint(one.capture)}", one.capture)


def present(jobs: list[Job], tolerance: Tolerance) -> Iterator[Job]:
    """Jobs whose file this machine finds; a missing one is skipped or an error."""
    for job in jobs:
        path = job["path"]
        if stored.exists(job) if is_stored(path) else os.path.exists(path):
            yield job
        elif not tolerance.missing:
            raise LakeError("existed when the query was planned, but is missing", job["capture"])


def unpack(job: Job, folder: Path) -> Job:
    """The job for the pipeline's task, with the survey, or a copy of the capture, in a folder."""
    folder.mkdir(exist_ok=True)
    for name, content in job.get("kept", {}).items():
        (folder / name).write_bytes(zlib.decompress(content))
    return {**stored.on_this_machine(job, folder), "survey": str(folder / _SURVEY)}
