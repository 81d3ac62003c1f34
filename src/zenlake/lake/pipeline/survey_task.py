"""The first task of a capture: its hash, and which tasks shall read which part of it."""

from __future__ import annotations

import hashlib
import heapq
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zenlake.errors import ZenlakeError
from zenlake.lake.pipeline.tasks import Job, Result
from zenlake.lake.store import LakeError

SMALL_BYTES: Final = 8 << 20
"""Below it the scalar road is there before kernels are loaded."""
SPLIT_BYTES: Final = 32 << 20
"""A task for less than this costs more than it saves."""
TASKS_PER_CORE: Final = 2
"""Of one file: loads are not quite even, but each task scans the whole file."""
_IRREGULAR_WEIGHT: Final = 8
"""How much longer a packet takes on the scalar road."""
_OTHER_WEIGHT: Final = 12
"""The same of what is no TCP, where nearly each packet has messages."""
_PACKET_WEIGHT: Final = 512
"""As many bytes of payload take as long as the rest of a packet."""


def survey_capture(job: Job) -> Result:
    """`path`, `survey` (where to keep what was found), `tasks` (how many at most)."""
    path = job["path"]
    if not _is_text(path):
        return {"path": path, "error": f"{path}: its name is not UTF-8, as tables need it"}
    try:
        with ThreadPoolExecutor(1) as pool:
            hashed = pool.submit(sha256_of, path)
            size = os.path.getsize(path)
            found = survey_splits(path, size, Path(job["survey"]), job["tasks"])
            return {"path": path, "size": size, "sha256": hashed.result(), **found}
    except OSError as error:
        return {"path": path, "error": f"{path}: cannot be opened: {error.strerror}"}
    except LakeError:
        raise
    except ZenlakeError as error:
        return {"path": path, "error": str(error)}


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def sha256_of(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def survey_splits(path: str, size: int, place: Path, tasks: int) -> Result:
    """How many splits; 0 where one task reads all of the file on the scalar road."""
    if size < SMALL_BYTES:
        return {"splits": 0}
    from zenlake.lake import bulk

    found = bulk.survey(path)
    if isinstance(found, bulk.Refusal) or not found.regular.any():
        return {"splits": 0}
    splits = max(1, min(tasks, size // SPLIT_BYTES))
    try:
        found.save(str(place))
        np.save(_beside(place, splits), assign(found, splits))
    except OSError as error:
        # Of the lake's disk, not of the capture: the run fails, as for all others it would.
        raise LakeError(f"cannot be written: {error.strerror}", place) from None
    whole = {"packets": found.packets, "first_ns": found.first_ns, "last_ns": found.last_ns}
    return {"splits": splits, "whole": whole}


def assign(survey: Any, splits: int) -> NDArray[np.int64]:
    """For each pair of ends the split that reads it: a session stays in one, loads are even.

    What is no TCP is read by the first one.
    """
    numbers: dict[tuple[str, str] | int, int] = {}
    # Two links of the same nodes may be of one session.
    firsts = [
        numbers.setdefault((min(one, other), max(one, other)) if one and other else pair, pair)
        for pair, (one, other) in enumerate(survey.zids.tolist())
    ]
    groups = np.array(firsts, np.int64)
    weights = survey.pair_packets * _PACKET_WEIGHT + survey.pair_bytes
    weights[~survey.regular] *= _IRREGULAR_WEIGHT
    totals = np.bincount(groups, weights, len(survey)).astype(np.int64)
    loads = [(0, split) for split in range(splits)]
    loads[0] = (survey.others * _PACKET_WEIGHT * _OTHER_WEIGHT, 0)
    heapq.heapify(loads)
    of_group = np.zeros(len(survey), np.int64)
    for group in np.argsort(-totals, kind="stable").tolist():
        load, split = loads[0]
        of_group[group] = split
        heapq.heapreplace(loads, (load + int(totals[group]), split))
    found: NDArray[np.int64] = of_group[groups]
    return found


def assigned(survey: Any, place: str, splits: int) -> NDArray[np.int64]:
    """The same, from where the survey is kept; so many splits may be others than it had."""
    kept = _beside(Path(place), splits)
    return np.load(kept) if kept.exists() else assign(survey, splits)


def _beside(place: Path, splits: int) -> Path:
    return place.with_suffix(f".{splits}.npy")
