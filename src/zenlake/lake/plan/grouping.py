"""Grouping: which small captures share a task."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final

from zenlake.lake.jobs import Job

TASK_BYTES: Final = 32 << 20
"""The most bytes of small captures that share a task."""
FILE_BYTES: Final = 64 << 10
"""The cost of opening a capture, as a number of bytes that could be read instead."""
_TASKS_PER_CORE: Final = 2


def grouped(jobs: list[Job], cores: int, size_of: Callable[[Job], int]) -> list[list[Job]]:
    """Groups for the tasks of the pipeline, as many as `cores` need."""
    sizes = [size_of(job) for job in jobs]
    total = sum(sizes) + FILE_BYTES * len(jobs)
    # With little work, use one task per core: starting more would take longer.
    at_least = cores if total < cores * TASK_BYTES else _TASKS_PER_CORE * cores
    return balanced(jobs, sizes, max(at_least, total // TASK_BYTES))


def balanced(jobs: list[Job], sizes: list[int], count: int) -> list[list[Job]]:
    """Groups of about the same number of bytes, each with its captures in the order given."""
    groups: list[list[int]] = [[] for _ in range(min(count, len(jobs)))]
    loads = [(0, number) for number in range(len(groups))]
    for place in sorted(range(len(jobs)), key=lambda one: -sizes[one]):
        load, number = loads[0]
        groups[number].append(place)
        heapq.heapreplace(loads, (load + sizes[place] + FILE_BYTES, number))
    return [[jobs[place] for place in sorted(group)] for group in groups]
