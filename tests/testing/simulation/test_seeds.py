"""Whole networks with faults: no seed may break an invariant (limits: Q02, Q15, T06)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import zenlake
from tests.chance import IS_FULL
from zenlake.testing.simulation import World, run_seed

SEEDS = 10_000 if IS_FULL else 120
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


def test_token_that_ends_before_its_beginning_is_announced() -> None:
    """An application got two DELETEs of the token, and no PUT."""
    outcome = run_seed(8185)
    assert not outcome.failure, outcome.report()


def test_seed_always_produces_the_same_run() -> None:
    seed = 17
    one = run_seed(seed, keeps_all=True)
    assert one.lines == run_seed(seed, keeps_all=True).lines
    # The order of sets and dictionaries in another process does not matter either.
    source = Path(zenlake.__file__).parents[1]
    command = [sys.executable, "-m", "zenlake.testing.simulation", "--seed", str(seed), "--trace"]
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONHASHSEED": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout.splitlines()[: len(one.lines)] == one.lines


def test_world_leaves_nothing_in_tables() -> None:
    """The garbage collector does not track compiled tables: a full one is never freed."""
    seed, restarts = 0, 0
    while restarts == 0:
        world = World(seed)
        world.run()
        restarts = world.journal.counts["fault: kill and restart"]
        seed += 1
    nodes = list(world._applications)
    assert len(nodes) > len(world.nodes)
    for node in nodes:
        tables = node.dispatcher.tables
        assert [len(table) for table in tables.entities] == [0, 0, 0]
        assert len(tables.interests) == 0
        assert len(node.core.subscribers._by_key) == 0
        assert len(node.core.queryables._by_key) == 0
