"""Followers without Spark: their tasks run in this process.

`test_follow_killed`, `test_follow_retry`, `test_follow_faults` and `test_official_nodes` run on
Spark.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from zenlake.lake.follow import all_samples, derivation
from zenlake.lake.jobs import Job, Result
from zenlake.lake.pipeline import pipeline


def run_here(_: object, work: Callable[[Job], Result], jobs: list[Job]) -> list[Result]:
    """Run jobs in this process; jobs and results are JSON, as between processes."""
    return [json.loads(json.dumps(work(json.loads(json.dumps(job))))) for job in jobs]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replaces the session of Spark: tasks run in this process."""
    for module in (derivation, pipeline):
        monkeypatch.setattr(module, "run_tasks", run_here)
    for module in (all_samples, pipeline):
        monkeypatch.setattr(module, "parallelism", lambda _: 2)
    monkeypatch.setattr(all_samples, "is_local", lambda _: True)
    return None
