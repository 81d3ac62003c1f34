"""The simulation detects defects of routers: each test breaks one method on purpose."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from zenlake.routing.face import Face
from zenlake.routing.network import network
from zenlake.routing.network.flooding import Flooding
from zenlake.routing.network.network import Network
from zenlake.routing.network.sourced_region import SourcedRegion
from zenlake.routing.network.weights import EdgeHashes
from zenlake.testing.simulation import run_seed
from zenlake.testing.simulation.plan import make_router_plan
from zenlake.wire import WhatAmI, ZenohId


def router_count(seed: int) -> int:
    nodes = make_router_plan(Random(seed)).nodes
    return sum(node.role == WhatAmI.ROUTER for node in nodes)


SEEDS = [seed for seed in range(200) if router_count(seed) > 3]
"""Seeds with larger networks, in which defects appear sooner."""

pytestmark = pytest.mark.skipif(
    not str(network.__file__).endswith(".py"), reason="compiled classes cannot be broken on purpose"
)


def first_failure() -> str:
    for seed in SEEDS:
        outcome = run_seed(seed, with_routers=True)
        if outcome.failure:
            return outcome.failure
    return "none"


def nothing(*_: Any) -> tuple[()]:
    """Replaces a method that works at once or in slices, and does nothing."""
    return ()


@pytest.mark.parametrize(
    ("machine", "method"),
    [
        (Flooding, "_pass_on"),
        (Flooding, "_announce_self"),
        (Flooding, "_remove_unreachable"),
        (SourcedRegion, "_declare_all"),
        (SourcedRegion, "pass_on"),
        (SourcedRegion, "undeclare_down"),
    ],
)
def test_method_that_does_nothing_is_detected(
    machine: type, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, method, nothing)
    assert first_failure() != "none"


def test_routers_with_different_weights_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    original = EdgeHashes.get

    def by_order(self: EdgeHashes, zid: ZenohId, other: ZenohId) -> int:
        hash = original(self, zid, other)
        return hash if int(zid) < int(other) else hash ^ 0xFFFF_FFFF

    monkeypatch.setattr(EdgeHashes, "get", by_order)
    assert first_failure() != "none"


def test_messages_sent_to_all_routers_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publications then arrive twice, or circulate for ever."""
    original = Network.children

    def all_links(self: Network, root: ZenohId) -> list[Face]:
        return [link.face for link in self.flooding.links.values()] or original(self, root)

    monkeypatch.setattr(Network, "children", all_links)
    monkeypatch.setattr(
        Network, "next_hop", lambda self, root, target: next(iter(all_links(self, root)), None)
    )
    assert first_failure() != "none"
