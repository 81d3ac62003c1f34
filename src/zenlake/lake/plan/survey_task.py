"""The first task of a capture: its hash, and which tasks shall read which part of it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from zenlake.errors import ZenlakeError
from zenlake.lake.address import parse
from zenlake.lake.pipeline.tasks import Job, Result
from zenlake.lake.plan.capture_names import size_of
from zenlake.lake.plan.file_digest import FileDigest, sha256_of
from zenlake.lake.plan.splits import assign, save_splits
from zenlake.lake.publish import LakeError

SMALL_BYTES: Final = 8 << 20
"""Below it the exact reader is there before kernels are loaded."""
SPLIT_BYTES: Final = 32 << 20
"""A task for less than this costs more than it saves."""
SPLIT_BYTES_MAX: Final = 128 << 20
"""Of the file, on average: a split puts its tables together in memory."""
TASKS_PER_CORE: Final = 2
"""Of one file: loads are not quite even."""


def survey_capture(job: Job) -> Result:
    """`path`, `survey` (where to keep what was found), `tasks` (how many splits at most).

    Optional: `split_bytes`, of the file, for which another split is worth while.
    """
    path = job["path"]
    if not _is_text(path):
        return {"path": path, "error": f"{path}: its name is not UTF-8, as tables need it"}
    try:
        is_local = parse(path).is_local
        size = os.path.getsize(path) if is_local else size_of(path)
        surveyed = _surveyed_beside_hash if is_local else _surveyed_with_hash
        sha256, found = surveyed(path, size, job)
        return {"path": path, "size": size, "sha256": sha256, **found}
    except OSError as error:
        return {"path": path, "error": f"{path}: cannot be opened: {error.strerror}"}
    except LakeError:
        raise
    except ZenlakeError as error:
        return {"path": path, "error": str(error)}


def _surveyed_beside_hash(path: str, size: int, job: Job) -> tuple[str, Result]:
    """The hash reads the file once more, from the page cache: neither waits for the other."""
    with ThreadPoolExecutor(1) as thread:
        sha256 = thread.submit(sha256_of, path)
        place, split_bytes = Path(job["survey"]), job.get("split_bytes")
        found = survey_splits(path, size, place, job["tasks"], None, split_bytes)
        return sha256.result(), found


def _surveyed_with_hash(path: str, size: int, job: Job) -> tuple[str, Result]:
    """The hash takes the bytes that the survey reads: a store hands them over once."""
    with FileDigest() as digest:
        place, split_bytes = Path(job["survey"]), job.get("split_bytes")
        found = survey_splits(path, size, place, job["tasks"], digest, split_bytes)
        # A file that the survey refuses is not read to its end, a small one not at all.
        return digest.hexdigest() if digest.size == size else sha256_of(path), found


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _count(size: int, tasks: int, split_bytes: int) -> int:
    """Where a file needs more than one round of tasks, all rounds are full."""
    rounds = -(-size // (tasks * SPLIT_BYTES_MAX))
    return max(1, min(tasks * rounds, size // split_bytes))


def survey_splits(
    path: str,
    size: int,
    place: Path,
    tasks: int,
    digest: FileDigest | None = None,
    split_bytes: int | None = None,
) -> Result:
    """How many splits; 0 where one task reads all of the file on the exact reader.

    What each split needs to know is kept beside `place`.
    """
    if size < SMALL_BYTES:
        return {"splits": 0}
    from zenlake.lake import fast_reader

    found = fast_reader.index(path, observer=digest)
    if found is None:
        found = fast_reader.survey(path)
    if isinstance(found, fast_reader.Refusal) or not found.may_be_regular.any():
        return {"splits": 0}
    splits = _count(size, tasks, split_bytes or SPLIT_BYTES)
    try:
        assigned = assign(found, splits)
        save_splits(found, assigned.of_pair, splits, place)
    except OSError as error:
        # Of the lake's disk, not of the capture: the run fails, as for all others it would.
        raise LakeError(f"cannot be written: {error.strerror}", place) from None
    whole = {"packets": found.packets, "first_ns": found.first_ns, "last_ns": found.last_ns}
    return {"splits": splits, "is_closed": assigned.is_closed, "whole": whole}
