"""The first task of a capture: its hash, and which tasks shall read which part of it."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zenlake.errors import ZenlakeError
from zenlake.lake.pipeline.tasks import Job, Result

SMALL_BYTES: Final = 8 << 20
"""Below it the scalar road is there before kernels are loaded."""
SPLIT_BYTES: Final = 32 << 20
"""A task for less than this costs more than it saves."""
_IRREGULAR_WEIGHT: Final = 8
"""How much longer a byte takes on the scalar road."""


def survey_capture(job: Job) -> Result:
    """`path`, `survey` (where to keep what was found), `tasks` (how many at most)."""
    path = job["path"]
    if not _is_text(path):
        return {"path": path, "error": f"{path}: its name is not UTF-8, as tables need it"}
    try:
        with ThreadPoolExecutor(1) as pool:
            hashed = pool.submit(_sha256, path)
            size = os.path.getsize(path)
            found = _survey(path, size, Path(job["survey"]), job["tasks"])
            return {"path": path, "size": size, "sha256": hashed.result(), **found}
    except OSError as error:
        return {"path": path, "error": f"{path}: cannot be opened: {error.strerror}"}
    except ZenlakeError as error:
        return {"path": path, "error": str(error)}


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _survey(path: str, size: int, place: Path, tasks: int) -> Result:
    """How many splits; 0 where one task reads all of the file on the scalar road."""
    if size < SMALL_BYTES:
        return {"splits": 0}
    from zenlake.lake import bulk

    found = bulk.survey(path)
    if isinstance(found, bulk.Refusal) or not found.regular.any():
        return {"splits": 0}
    found.save(str(place))
    whole = {"packets": found.packets, "first_ns": found.first_ns, "last_ns": found.last_ns}
    return {"splits": max(1, min(tasks, size // SPLIT_BYTES)), "whole": whole}


def assign(survey: Any, splits: int) -> NDArray[np.int64]:
    """For each pair of ends the split that reads it: a session stays in one, loads are even."""
    weights = survey.pair_bytes * np.where(survey.regular, 1, _IRREGULAR_WEIGHT)
    loads = [0] * splits
    groups: dict[tuple[str, str] | int, list[int]] = {}
    for pair, (one, other) in enumerate(survey.zids.tolist()):
        # Two links of the same nodes may be of one session.
        nodes = (min(one, other), max(one, other)) if one and other else pair
        groups.setdefault(nodes, []).append(pair)
    found = np.zeros(len(survey), np.int64)
    totals = [(int(weights[pairs].sum()), pairs) for pairs in groups.values()]
    for weight, pairs in sorted(totals, key=lambda total: (-total[0], total[1])):
        split = loads.index(min(loads))
        loads[split] += weight
        found[pairs] = split
    return found
