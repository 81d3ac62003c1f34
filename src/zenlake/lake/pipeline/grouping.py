"""Grouping: which small captures share a task."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final

from zenlake.lake.pipeline.tasks import Job

TASK_BYTES: Final = 32 << 20
"""A task reads about as many, of small captures."""
FILE_BYTES: Final = 64 << 10
"""As many take as long to read as it takes to open a capture."""
_TASKS_PER_CORE: Final = 2


def grouped(jobs: list[Job], cores: int, size_of: Callable[[Job], int]) -> list[list[Job]]:
    """Groups of about the same bytes; the captures of each in the order given."""
    sizes = [size_of(job) + FILE_BYTES for job in jobs]
    total = sum(sizes)
    # Little work is one task per core at most: to start another one takes longer.
    at_least = cores if total < cores * TASK_BYTES else _TASKS_PER_CORE * cores
    count = min(len(jobs), max(at_least, total // TASK_BYTES))
    groups: list[list[int]] = [[] for _ in range(count)]
    loads = [(0, number) for number in range(count)]
    for place in sorted(range(len(jobs)), key=lambda one: -sizes[one]):
        load, number = loads[0]
        groups[number].append(place)
        heapq.heapreplace(loads, (load + sizes[place], number))
    return [[jobs[place] for place in sorted(group)] for group in groups]
