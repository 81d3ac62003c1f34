"""A network as the admin space shows it (behaviour reference §5)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

from zenlake.routing.network.network import Network
from zenlake.routing.network.trees import Tree
from zenlake.wire.values.zenoh_id import ZenohId


class LinkWeight(NamedTuple):
    """The weight of a link: what each side configured (None: nothing), and the result."""

    src_weight: int | None
    dst_weight: int | None
    actual_weight: int


class Successor(NamedTuple):
    """The neighbour to which this node forwards messages from one node to another."""

    source: ZenohId
    destination: ZenohId
    successor: ZenohId


def graph_lines(network: Network) -> Iterator[str]:
    """The graph as `linkstate/<region>` has it: numbers are the psids of this node.

    It may change while it is read.
    """
    yield "graph {"
    nodes = network.graph.by_index()
    for node in nodes:
        yield f'    {node.index} [ label = "{node.zid}" ]'
    for node in nodes:
        for other, weight in list(node.edges.items()):
            if other.index < node.index:
                yield f'    {node.index} -- {other.index} [ label = "{weight!r}" ]'
    yield "}"


def link_weight(network: Network, neighbour: ZenohId) -> LinkWeight | None:
    """The weight of the link to a neighbour that lists this node too; None if there is none."""
    own = network.graph.own
    node = network.graph.nodes.get(neighbour)
    weight = None if node is None else own.edges.get(node)
    if node is None or weight is None:
        return None
    return LinkWeight(own.links[node] or None, node.links[own] or None, min(0xFFFF, int(weight)))


def successor(
    network: Network, source: ZenohId, destination: ZenohId
) -> Generator[None, None, ZenohId | None]:
    """The neighbour that leads from a source to a destination; None if none does."""
    root = network.graph.nodes.get(source)
    target = network.graph.nodes.get(destination)
    if root is None or target is None:
        return None
    tree = yield from network.trees.find(root)
    direction = tree.direction(target)
    return None if direction is None else direction.zid


def successors(network: Network) -> Iterator[Successor | None]:
    """The successor for every source and destination; of 1,000 nodes these are a million.

    None where a slice should end: the trees of all sources are needed, and few are cached.
    """
    for root in network.graph.by_index():
        search = network.trees.find(root)
        tree: Tree | None = None
        while tree is None:
            try:
                next(search)
            except StopIteration as end:
                tree = end.value
            else:
                yield None
        for target in network.graph.by_index():
            direction = tree.direction(target)
            if direction is not None:
                yield Successor(root.zid, target.zid, direction.zid)
