"""Networks of our routers and real ones, in which links break and a router leaves and returns.

Every node receives what a simple model predicts, as in networks of real routers; publications
take the shortest paths; and nothing in the traffic breaks a rule of the protocol. By default one
network; `make interop` runs all of them with all releases (ZENLAKE_INTEROP=full).
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.interop.deliveries import declare_all, settle
from tests.interop.mixed_network import MixedNetwork
from tests.interop.puppets import Kind, ours, theirs
from tests.interop.shapes import LINE, RING, SHAPES, Edge, Graph, Shape
from zenlake import rules, trace
from zenlake.rules import NOTE
from zenlake.trace.events import MessageSeen, Missing, Undecoded

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"
INSTALLED, *OLDER = theirs()
OURS = ours()
WEIGHTS_SINCE = (1, 5)
"""Earlier routers neither send nor read weights, so trees of a ring would differ."""


def mixes(size: int) -> list[tuple[Kind, ...]]:
    """Which routers are ours: one of them, all but one, all, none."""
    found = [(OURS,) * size]
    for other in (INSTALLED, *OLDER):
        for place in range(min(size, 3)):
            found.append(tuple(OURS if at == place else other for at in range(size)))
            found.append(tuple(other if at == place else OURS for at in range(size)))
        found.append((other,) * size)
    if len(OLDER) > 1:
        found.append((OLDER[0], OURS, OLDER[1], INSTALLED)[:size])
        found.append((OURS, OLDER[1], OURS, OLDER[0])[:size])
        found.append((OLDER[0], INSTALLED, OLDER[1], INSTALLED)[:size])
    return list(dict.fromkeys(found))


def networks() -> list[tuple[Shape, tuple[Kind, ...], bool]]:
    """Each with weights of links, where all routers know them; rings also without."""
    found = []
    for shape in SHAPES:
        for kinds in mixes(shape.size):
            knows = min(one.version for one in kinds) >= WEIGHTS_SINCE
            found += [(shape, kinds, knows)]
            if knows and shape is RING:
                found += [(shape, kinds, False)]
    return found


NETWORKS = networks() if IS_FULL else [(LINE, (INSTALLED, OURS, INSTALLED), True)]


def name_of(value: object) -> str:
    if isinstance(value, Shape):
        return value.name
    if isinstance(value, tuple):
        return "+".join(one.name for one in value)
    return "weights" if value else "equal"


@pytest.mark.parametrize(("shape", "kinds", "weighted"), NETWORKS, ids=name_of)
def test_links_break_and_a_router_returns(
    shape: Shape, kinds: tuple[Kind, ...], weighted: bool, tmp_path: Path
) -> None:
    capture = tmp_path / "network.pcapng"
    weights = shape.weights if weighted else {}
    rounds: dict[int, Graph] = {}
    with MixedNetwork(kinds, shape, INSTALLED, capture, weights) as network:
        links = {tap.hosts: edge for edge, tap in network.taps.items()}

        def wait_for_deliveries(when: str) -> None:
            number, seconds = settle(network, max(rounds, default=0) + 1)
            rounds[number] = network.graph
            print(f"{when}: as expected after {seconds:.1f} s")

        declare_all(network)
        wait_for_deliveries("at first")
        for edge in shape.parting:
            network.cut(edge)
            wait_for_deliveries(f"without the link {edge}")
        network.heal()
        wait_for_deliveries("healed")
        network.leave(shape.leaving)
        wait_for_deliveries(f"without router {shape.leaving}")
        network.come_back(shape.leaving)
        wait_for_deliveries("when it is back")
        network.end()
    names = list(network.nodes)
    found = crossings(capture, links)
    for number, graph in rounds.items():
        for name in names:
            check_way(found.get(f"d/{number}/{name}", Counter()), graph, int(name[1]), weighted)
    check_rules(capture)


def crossings(capture: Path, links: dict[tuple[str, str], Edge]) -> dict[str, Counter[Edge]]:
    """How often each publication crossed which links between routers."""
    found: dict[str, Counter[Edge]] = {}
    for event in trace.open(str(capture)):
        assert not isinstance(event, (Undecoded, Missing)), event
        if isinstance(event, MessageSeen) and event.kind == "PUSH/PUT" and event.key is not None:
            hosts = sorted(one.rpartition(":")[0] for one in (event.sender, event.receiver))
            edge = links.get((hosts[0], hosts[1]))
            if edge is not None:
                found.setdefault(event.key, Counter())[edge] += 1
    return found


def check_way(crossed: Counter[Edge], graph: Graph, source: int, weighted: bool) -> None:
    """Assert that each router got a publication once, by the shortest path."""
    if weighted:
        assert crossed == Counter(graph.tree(source)), (source, graph)
    else:
        assert crossed.total() == max(len(graph.distances(source)) - 1, 0), (source, graph)
        assert set(crossed.values()) <= {1}


def check_rules(capture: Path) -> None:
    found = list(rules.check(trace.open(str(capture))))
    print(dict(Counter(one.rule.id for one in found)))
    broken = [one for one in found if one.rule.severity != NOTE]
    assert not broken, broken
