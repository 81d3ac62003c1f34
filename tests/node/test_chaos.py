"""A short run of `make chaos`: routers are killed, paused and cut off while clients use them."""

from __future__ import annotations

import pytest

from chaos.network import edges_of
from chaos.run import run_chaos
from tests.chance import IS_FULL, first_seed

SECONDS = 60.0 if IS_FULL else 2.0


@pytest.mark.parametrize("shape", ["line", "ring"] if IS_FULL else ["line"])
def test_routers_keep_their_guarantees_under_random_faults(shape: str) -> None:
    """No duplicate replies, a final for each request, delivery recovers, nothing is left behind."""
    seed = first_seed()
    print("seed", seed)
    result = run_chaos(SECONDS, seed, shape, size=3 if IS_FULL else 2)
    print(result.text())
    assert result.failures == []
    tally = result.tally
    assert tally.kills > 0
    assert tally.cuts + tally.stalls > 0
    assert result.counts["finals"] > 0
    assert result.counts["samples"] > 0
    assert result.counts["replies"] > 0


def test_edges_of_each_shape_of_network() -> None:
    assert edges_of("line", 3) == [(0, 1), (1, 2)]
    assert edges_of("star", 4) == [(0, 1), (0, 2), (0, 3)]
    assert edges_of("ring", 3) == [(0, 1), (1, 2), (2, 0)]
