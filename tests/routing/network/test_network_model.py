"""Random networks: links are added and removed, then all routers must agree with a model."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.chance import IS_FULL
from tests.routing.network.mesh import Mesh, pair
from zenlake.routing.network.report import graph_lines, link_weight, successor, successors
from zenlake.routing.network.weights import EdgeHashes, edge_weight
from zenlake.wire import ZenohId

SEEDS = range(2_000 if IS_FULL else 60)
NAMES = [f"{number:x}" for number in (0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6, 0x17, 0x28)]

Edges = dict[tuple[str, str], float]


def random_mesh(seed: int) -> Mesh:
    """Some routers after random changes; all messages are delivered."""
    mesh = Mesh(seed)
    random = mesh.random
    names = NAMES[: random.randint(2, len(NAMES))]
    mesh.starts(*names)
    restarts = 1  # each has a later clock
    for _ in range(random.randint(1, 60)):
        one, other = random.sample(names, 2)
        act = random.random()
        if pair(one, other) in mesh.connections:
            if act < 0.3:
                mesh.unlinks(one, other)
        elif act < 0.7:
            mesh.links(one, other)
        if act > 0.95:
            mesh.stops(one)
            restarts += 1
            mesh.starts(one, wall_ns=lambda start=restarts: start * 10**9)
        elif act > 0.85:
            weights = {ZenohId.parse(name): random.choice((1, 50, 300)) for name in names}
            del weights[ZenohId.parse(random.choice(names))]
            mesh.routers[one].network.flooding.set_weights(weights, mesh.now)
        mesh.deliver_some(random.randint(0, 12))
        if random.random() < 0.3:
            for root in names:
                mesh.routers[one].children(root)  # trees that are in use
            mesh.time_passes(random.choice((0.01, 0.2)))
    mesh.settles()
    return mesh


def true_edges(mesh: Mesh) -> Edges:
    hashes = EdgeHashes()
    edges: Edges = {}
    for one, other in mesh.connections:
        zids = ZenohId.parse(one), ZenohId.parse(other)
        weights = [
            mesh.routers[a].network.graph.own.links[mesh.routers[a].network.graph.nodes[zid]]
            for a, zid in ((one, zids[1]), (other, zids[0]))
        ]
        weight = edge_weight(weights[0], weights[1], hashes.get(*zids))
        edges[one, other] = edges[other, one] = weight
    return edges


def within(edges: Edges, name: str) -> tuple[set[str], Edges]:
    """The part of a network that a node can know of."""
    names = {name}
    while True:
        more = {other for one, other in edges if one in names} - names
        if not more:
            return names, {ends: weight for ends, weight in edges.items() if ends[0] in names}
        names |= more


def parents(edges: Edges, root: str) -> tuple[dict[str, str], dict[str, float]]:
    """Shortest paths (Bellman-Ford)."""
    distances = {root: 0.0}
    parents: dict[str, str] = {}
    is_improved = True
    while is_improved:
        is_improved = False
        for (one, other), weight in edges.items():
            if one in distances and distances[one] + weight < distances.get(other, 1e99):
                distances[other] = distances[one] + weight
                parents[other] = one
                is_improved = True
    return parents, distances


@pytest.mark.parametrize("seed", SEEDS)
def test_all_routers_agree_with_the_model(seed: int) -> None:
    mesh = random_mesh(seed)
    edges = true_edges(mesh)
    for name, router in mesh.routers.items():
        names, known = within(edges, name)
        assert router.names() == names
        assert router.edges() == known
        for root in names:
            parent_of, distances = parents(known, root)
            children = {node for node, parent in parent_of.items() if parent == name}
            assert set(router.children(root)) == children
            if root == name:
                for node, distance in distances.items():
                    assert router.network.distance(ZenohId.parse(node)) == int(distance)
        assert router.budget.held_bytes == sum(
            node.charged_bytes for node in router.network.graph.nodes.values()
        )
        assert router.network.graph.link_count == len(known)


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_arrive_along_trees(seed: int) -> None:
    """Down a tree every node is reached once; towards a target each hop is nearer."""
    mesh = random_mesh(seed)
    edges = true_edges(mesh)
    for root in mesh.routers:
        names, _ = within(edges, root)
        reached = [root]
        for name in reached:
            reached += mesh.routers[name].children(root)
            assert len(reached) <= len(names)
        assert set(reached) == names
        for start in names:
            for target in names - {start}:
                path = [start]
                while path[-1] != target:
                    hop = mesh.routers[path[-1]].next_hop(root, target)
                    assert hop is not None
                    path.append(hop)
                    assert len(path) <= len(names)
                assert len(set(path)) == len(path)
                assert all(pair(*hop) in mesh.connections for hop in pairwise(path))


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_children_that_were_gained_are_the_children(seed: int) -> None:
    """Only gained children get all declarations; that is enough for them to know all."""
    mesh = random_mesh(seed)
    name = next(iter(mesh.routers))
    router = mesh.routers[name]
    router.gained.clear()
    informed = set(router.children(name))
    for other in list(mesh.routers):
        if other != name:
            if pair(name, other) in mesh.connections:
                mesh.unlinks(name, other)
                informed.discard(other)
            else:
                mesh.links(name, other)
            mesh.settles()
            assert set(router.children(name)) >= {child for _, child in router.gained}
            informed = informed & set(router.children(name)) | {
                child for root, child in router.gained if root == name
            }
            router.gained.clear()
            assert informed == set(router.children(name))


def test_report_has_the_form_of_a_real_router() -> None:
    mesh = Mesh()
    mesh.starts("a1", link_weights={ZenohId.parse("b2"): 50})
    mesh.starts("b2", "c3")
    mesh.line("a1", "b2", "c3")
    mesh.settles()
    network = mesh.routers["a1"].network
    assert list(graph_lines(network)) == [
        "graph {",
        '    0 [ label = "a1" ]',
        '    1 [ label = "b2" ]',
        '    2 [ label = "c3" ]',
        '    1 -- 0 [ label = "50.26096113625936" ]',
        '    2 -- 1 [ label = "100.22397104702516" ]',
        "}",
    ]
    assert link_weight(network, ZenohId.parse("b2")) == (50, None, 50)
    assert link_weight(network, ZenohId.parse("c3")) is None
    assert link_weight(network, ZenohId.parse("ff")) is None
    assert {tuple(map(str, entry)) for entry in successors(network) if entry is not None} == {
        ("a1", "b2", "b2"),
        ("a1", "c3", "b2"),
        ("b2", "b2", "b2"),
        ("b2", "c3", "b2"),
        ("c3", "b2", "b2"),
        ("c3", "c3", "b2"),
    }
    for source, destination, hop in (
        ("a1", "c3", "b2"),
        ("a1", "a1", None),
        ("a1", "ff", None),
        ("ff", "a1", None),
    ):
        with pytest.raises(StopIteration) as end:
            next(successor(network, ZenohId.parse(source), ZenohId.parse(destination)))
        assert end.value.value == (None if hop is None else ZenohId.parse(hop))
