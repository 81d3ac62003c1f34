"""Whole networks with faults: no seed may break an invariant (limits: Q02, Q15, T06)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import zenlake
from zenlake.testing.simulation import run_seed

SEEDS = 10_000 if os.environ.get("ZENLAKE_FULL") == "1" else 120
CHUNK = 30
FAULTS = {
    "cut with notice",
    "cut without notice",
    "pause",
    "close and restart",
    "kill and restart",
    "power cut and restart",
    "wall clock jump",
}


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_seeds(first: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, min(first + CHUNK, SEEDS)):
        outcome = run_seed(seed)
        assert not outcome.failure, outcome.report()
        counts.update(outcome.counts)
        counts["promises"] += outcome.promises
    assert {f"fault: {name}" for name in FAULTS} <= set(counts)
    assert counts["promises"] > 200


def test_a_seed_always_gives_the_same_run() -> None:
    seed = 17
    one = run_seed(seed, keeps_all=True)
    assert one.lines == run_seed(seed, keeps_all=True).lines
    # Nor does the order of sets and dictionaries in another process matter.
    source = Path(zenlake.__file__).parents[1]
    command = [sys.executable, "-m", "zenlake.testing.simulation", "--seed", str(seed), "--trace"]
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONHASHSEED": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout.splitlines()[: len(one.lines)] == one.lines
