"""The first task of a capture: its hash, and its division into splits."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from zenlake.errors import ZenlakeError
from zenlake.lake.address import parse
from zenlake.lake.errors import LakeError
from zenlake.lake.jobs import Job, Result
from zenlake.lake.plan.capture_names import check_is_file, size_of
from zenlake.lake.plan.file_digest import FileDigest, sha256_of
from zenlake.lake.plan.splits import assign, save_splits

SMALL_BYTES: Final = 8 << 20
"""The exact reader reads a smaller file in less time than kernels take to load."""
SPLIT_BYTES: Final = 32 << 20
"""With fewer bytes, a task costs more time than it saves."""
SPLIT_BYTES_MAX: Final = 176 << 20
"""The average size of a split in bytes of the file: its tables are derived in memory."""
TASKS_PER_CORE: Final = 2
"""More than one, because the loads of splits are not quite even."""


def survey_capture(job: Job) -> Result:
    """Surveys `path` into the file `survey`, with at most `tasks` splits.

    The optional `split_bytes` is the number of bytes that justifies another split.
    """
    path = job["path"]
    if not _is_text(path):
        return {"path": path, "error": f"{path}: its name is not UTF-8, as tables need it"}
    try:
        is_local = parse(path).is_local
        if is_local:
            os.stat(path)  # an error if there is no such file
            check_is_file(path)
        size = size_of(path)
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
    """The hash reads the file separately, from the page cache: neither waits for the other."""
    with ThreadPoolExecutor(1) as thread:
        sha256 = thread.submit(sha256_of, path)
        place, split_bytes = Path(job["survey"]), job.get("split_bytes")
        found = survey_splits(path, size, place, job["tasks"], None, split_bytes)
        return sha256.result(), found


def _surveyed_with_hash(path: str, size: int, job: Job) -> tuple[str, Result]:
    """The survey passes the bytes that it reads to the hash: a store sends them only once."""
    with FileDigest() as digest:
        place, split_bytes = Path(job["survey"]), job.get("split_bytes")
        found = survey_splits(path, size, place, job["tasks"], digest, split_bytes)
        # The survey reads refused files only in part, and small ones not at all.
        return digest.hexdigest() if digest.size == size else sha256_of(path), found


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _count(size: int, tasks: int, split_bytes: int) -> int:
    """The number of splits, a multiple of `tasks` if they need several rounds of tasks."""
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
    """The number of splits; 0 if one task reads the whole file with the exact reader.

    The part of the survey for each split is written beside `place`.
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
        # The lake's disk failed, not the capture: other captures would fail too.
        raise LakeError(f"cannot be written: {error.strerror}", place) from None
    whole = {"packets": found.packets, "first_ns": found.first_ns, "last_ns": found.last_ns}
    return {"splits": splits, "is_closed": assigned.is_closed, "whole": whole}
