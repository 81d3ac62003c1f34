"""A network in words, for the admin space (behaviour reference §5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from zenlake.routing.network import Network
from zenlake.wire.values.zenoh_id import ZenohId


class LinkWeight(NamedTuple):
    """Of a link of this node: what each side configured, None for nothing, and what counts."""

    src_weight: int | None
    dst_weight: int | None
    actual_weight: int


class Successor(NamedTuple):
    """Where this node passes on what goes from one node to another."""

    source: ZenohId
    destination: ZenohId
    successor: ZenohId


def graphviz(network: Network) -> str:
    """The graph as `linkstate/<region>` has it: numbers are the psids of this node."""
    lines = ["graph {"]
    nodes = network.graph.by_index()
    for node in nodes:
        lines.append(f'    {node.index} [ label = "{node.zid}" ]')
    for node in nodes:
        for other, weight in node.edges.items():
            if other.index < node.index:
                lines.append(f'    {node.index} -- {other.index} [ label = "{weight!r}" ]')
    lines.append("}")
    return "\n".join(lines) + "\n"


def link_weights(network: Network) -> dict[ZenohId, LinkWeight]:
    """By neighbour, of those that list this node too."""
    own = network.graph.own
    weights: dict[ZenohId, LinkWeight] = {}
    for node, weight in own.edges.items():
        weights[node.zid] = LinkWeight(
            own.links[node] or None, node.links[own] or None, min(0xFFFF, int(weight))
        )
    return weights


def successor(network: Network, source: ZenohId, destination: ZenohId) -> ZenohId | None:
    """The neighbour that leads from a source to a destination; None if none does."""
    root = network.graph.nodes.get(source)
    target = network.graph.nodes.get(destination)
    if root is None or target is None:
        return None
    direction = network.trees.get(root).direction(target)
    return None if direction is None else direction.zid


def successors(network: Network) -> Iterator[Successor]:
    """For every source and destination; of 1,000 nodes these are a million."""
    for root in network.graph.by_index():
        trees = network.trees
        tree = trees.get(root) if trees.is_used(root) else trees.compute(root)
        for target in network.graph.by_index():
            direction = tree.direction(target)
            if direction is not None:
                yield Successor(root.zid, target.zid, direction.zid)
