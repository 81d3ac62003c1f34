"""Networks with routers, peers and clients: no seed may break an invariant."""

from __future__ import annotations

import sys
from random import Random

import pytest

from tests.chance import IS_FULL
from zenlake.testing.simulation import World, run_seed
from zenlake.testing.simulation.__main__ import main
from zenlake.testing.simulation.plan import make_router_plan

SINGLE_SEEDS = 1_000 if IS_FULL else 30
NETWORK_SEEDS = 10_000 if IS_FULL else 60
TWO_HOMES_SEEDS = 200 if IS_FULL else 20
CHUNK = 10


@pytest.mark.parametrize("first", range(0, SINGLE_SEEDS, CHUNK))
def test_single_router_keeps_all_promises(first: int) -> None:
    promises = 0
    for seed in range(first, min(first + CHUNK, SINGLE_SEEDS)):
        world = World(seed, make_router_plan(Random(seed), routers=1))
        world.run()
        promises += world.ledger.promises.made
    assert promises > 100


@pytest.mark.parametrize("first", range(0, NETWORK_SEEDS, CHUNK))
def test_networks_of_routers_keep_their_promises(first: int) -> None:
    """Routers in all shapes, with links that fail, nodes that are restarted, and partitions."""
    promises = 0
    for seed in range(first, min(first + CHUNK, NETWORK_SEEDS)):
        outcome = run_seed(seed, with_routers=True)
        assert not outcome.failure, outcome.report()
        promises += outcome.promises
    assert promises > 100


@pytest.mark.parametrize("first", range(0, TWO_HOMES_SEEDS, CHUNK))
def test_peer_with_two_routers(first: int) -> None:
    for seed in range(first, min(first + CHUNK, TWO_HOMES_SEEDS)):
        outcome = run_seed(seed, with_routers=True, two_homes=True)
        assert not outcome.failure, outcome.report()


def test_router_and_its_peer_may_have_the_same_token() -> None:
    """The other gateway regarded it as the peer's own token, even after that had ended."""
    outcome = run_seed(270, with_routers=True, two_homes=True)
    assert not outcome.failure, outcome.report()


def test_two_homes_without_routers_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise the run would silently use a network without routers."""
    monkeypatch.setattr(sys, "argv", ["simulation", "--seed", "0", "--two-homes"])
    with pytest.raises(SystemExit):
        main()
    assert "--two-homes needs --routers" in capsys.readouterr().err
