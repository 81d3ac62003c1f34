"""`Work`: the work of routing for one message, divided into short slices.

A message may concern any number of declarations: an interest in `**`, a key with many wildcards,
the end of a neighbour with 100,000 subscribers. Routing holds the lock of the node, which all
neighbours need. So long work is a *job*: a generator that yields when the steps of a *slice* are
used up, and goes on in a later slice; the lock is released between the two.

Other messages are received between two slices of a job. Each time it continues, a job therefore
compares what was announced to a neighbour with the tables as they are now, and keeps no copy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from zenlake.keyexpr.search import Search
    from zenlake.routing.face import Face

Job = Generator[None, None, None]

UNLIMITED: Final = 1 << 62
SLICE_STEPS: Final = 2_048
"""Steps of a slice. A step takes less than a microsecond compiled, about one in plain Python."""

SEND_STEPS: Final = 24
"""Steps for a message to a neighbour, which is encoded at once."""

MESSAGE_STEPS: Final = 8
"""Steps for receiving any message but a publication."""

RUN_MESSAGES_PER_STEP: Final = 4
"""Publications of a run that are forwarded in one step (wire/push_run.py)."""

KEY_BYTES_PER_STEP: Final = 8
"""Characters of a key that are validated, hashed and looked up in one step."""


class Work:
    """The steps left in this slice, and the unfinished jobs."""

    __slots__ = ("jobs", "steps")

    def __init__(self) -> None:
        self.steps = UNLIMITED
        self.jobs: deque[Job] = deque()
        """Jobs that no face waits for, the oldest first."""

    def run(self, job: Job) -> None:
        """Begin a job that need not be finished before the next message of its neighbour."""
        if self.steps <= 0 or not self._run_slice(job):
            self.jobs.append(job)

    def run_for(self, face: Face, job: Job) -> None:
        """Begin a job that the next message of `face` must wait for."""
        if not self._run_slice(job):
            face.job = job

    def resume(self, face: Face, steps: int) -> None:
        """Continue the job of `face` for one slice."""
        self.steps = steps
        job = face.job
        if job is not None and self._run_slice(job) and face.job is job:
            face.job = None

    def run_jobs(self, steps: int) -> bool:
        """Continue the other jobs for one slice; returns whether any are left."""
        self.steps = steps
        jobs = self.jobs
        while jobs and self.steps > 0:
            job = jobs.popleft()
            if not self._run_slice(job):
                jobs.append(job)
        return len(jobs) > 0

    def _run_slice(self, job: Job) -> bool:
        """Continue a job until the steps are used up; returns whether it is finished."""
        for _ in job:
            return False
        return True

    def finish_search(self, search: Search[Any]) -> Job:
        """Run a search to its end, in several slices if necessary."""
        while not self.search(search):
            yield

    def search(self, search: Search[Any]) -> bool:
        """Run a search for the steps of this slice; returns whether it is at its end."""
        before = search.steps
        is_finished = search.run(max(1, self.steps))
        self.steps -= search.steps - before
        return is_finished
