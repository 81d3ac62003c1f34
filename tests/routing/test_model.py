"""Random events at a peer and at a router, compared with a model of the rules.

Many events from fixed seeds (ZENLAKE_SEED for another), and few drawn by Hypothesis, which shortens
a failure. Every step is printed.
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.routing.event_model import REGIONS, RandomEvents


@pytest.mark.parametrize("role", REGIONS)
@pytest.mark.parametrize("offset", range(12))
def test_many_events(offset: int, role: str) -> None:
    seed = int(os.environ.get("ZENLAKE_SEED", "20261115")) + offset
    print("seed", seed)
    RandomEvents(random.Random(seed), role).run(500)


@pytest.mark.parametrize("role", REGIONS)
@pytest.mark.parametrize("steps", [1, 40])
def test_events_whose_jobs_run_in_short_slices(steps: int, role: str) -> None:
    """Jobs that run in many slices have the same result."""
    events = RandomEvents(random.Random(steps), role)
    events.play.slice_steps = steps
    events.run(500)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(REGIONS)))
def test_few_events(chance: random.Random, role: str) -> None:
    RandomEvents(chance, role).run(30)
