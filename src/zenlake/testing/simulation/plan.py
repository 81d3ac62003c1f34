"""Plan: the network of a seed, before the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final

from zenlake.protocol.offer import Offer
from zenlake.wire import Resolution, WhatAmI, ZenohId

WORK_S: Final = 12.0
"""The time in which operations and faults happen."""
KEYS: Final = ("a", "a/b", "a/c", "b/c", "a/b/c", "b/c1")
WILD_KEYS: Final = ("a/*", "a/**", "**", "*/c", "b/c$*", "**/c")
_LEASES_MS: Final = (1_000, 2_000, 2_000, 4_000)
_BATCH_SIZES: Final = (128, 300, 2_048, 65_535, 65_535)
_RESOLUTIONS: Final = (0x0A, 0x0A, 0x09, 0x08, 0x0B)


@dataclass
class NodePlan:
    """One node: its id, the nodes it connects to, and its terms."""

    name: str
    role: WhatAmI
    connects: list[list[int]] = field(default_factory=list)
    """Groups of nodes by index: one connection for each group, to any node in it."""
    lease_ms: int = 2_000
    batch_size: int = 65_535
    resolution: int = 0x0A
    is_qos: bool = True
    is_compressed: bool = False
    is_low_latency: bool = False
    is_timestamping: bool = False
    clock_offset_s: float = 0.0
    clock_rate: float = 1.0
    weights: dict[int, int] = field(default_factory=dict)
    """Weights of links to other routers, by index."""
    is_found: bool = False
    """Whether it announces its locator by gossip."""

    def offer(self, zid: ZenohId) -> Offer:
        return Offer(
            zid,
            self.role,
            resolution=Resolution(self.resolution),
            batch_size=self.batch_size,
            lease_ms=self.lease_ms,
            qos=self.is_qos,
            low_latency=self.is_low_latency,
            compression=self.is_compressed,
        )


@dataclass
class Plan:
    """The nodes, the properties of the network between them, and the amount of work."""

    nodes: list[NodePlan]
    is_stream: bool = True
    delay_s: float = 0.01
    jitter_s: float = 0.0
    bytes_per_s: float = 1e6
    loss: float = 0.0
    duplication: float = 0.0
    reordering: float = 0.0
    keys: tuple[str, ...] = KEYS
    wild_keys: tuple[str, ...] = WILD_KEYS
    operations: int = 60
    faults: int = 5

    @property
    def is_lossy(self) -> bool:
        return self.loss > 0 or self.reordering > 0


def make_plan(rng: Random) -> Plan:
    """A small network: peers in a mesh or in a star, and clients of some of them."""
    peers = rng.randint(1, 3)
    clients = rng.randint(0 if peers > 1 else 2, 4)
    is_star = rng.random() < 0.3
    is_stream = rng.random() < 0.75
    nodes = [NodePlan(f"p{number}", WhatAmI.PEER) for number in range(peers)]
    for one in range(peers):
        for other in range(one + 1, peers):
            if not is_star or one == 0:
                _link(nodes, one, other, rng)
    for number in range(clients):
        gateways = rng.sample(range(peers), rng.randint(1, min(2, peers)))
        nodes.append(NodePlan(f"c{number}", WhatAmI.CLIENT, [gateways]))
    return _make_plan(nodes, is_stream, rng)


def make_router_plan(rng: Random, routers: int = 0, *, two_homes: bool = False) -> Plan:
    """Routers in a line, ring, star or mesh; peers below some, and clients of all kinds.

    A peer is linked to one router, and peers that are linked to each other to the same one; or,
    with `two_homes`, it is the only peer of two routers. Then there is one path between any two
    nodes, except between routers. A peer without other peers may move to another router.
    """
    routers = routers or rng.choice((1, 2, 2, 3, 3, 4, 4, 5))
    nodes = [NodePlan(f"r{number}", WhatAmI.ROUTER) for number in range(routers)]
    for one, other in _router_links(routers, rng):
        _link(nodes, one, other, rng)
        if rng.random() < 0.2:
            nodes[one].weights[other] = rng.choice((1, 50, 300))
    sites = [rng.randrange(routers) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
    meeting = rng.choice(("by plan", "by plan", "by gossip", "never"))
    for number, site in enumerate(sites):
        peer = NodePlan(f"p{number}", WhatAmI.PEER, [[site]])
        peer.is_found = meeting == "by gossip"
        nodes.append(peer)
        for other in range(number):
            if meeting == "by plan" and sites[other] == site:
                _link(nodes, routers + other, routers + number, rng)
    if len(sites) == 1 and rng.random() < 0.5:
        nodes[routers].connects = [rng.sample(range(routers), min(routers, 2))]
    taken = {site for peer in nodes[routers:] for group in peer.connects for site in group}
    free = [router for router in range(routers) if router not in taken]
    if two_homes and len(free) > 1:
        homes = [[router] for router in rng.sample(free, 2)]
        nodes.append(NodePlan(f"p{len(sites)}", WhatAmI.PEER, homes))
    servers = len(nodes)
    for number in range(rng.randint(1, 4)):
        gateways = rng.sample(range(servers), rng.randint(1, min(2, servers)))
        nodes.append(NodePlan(f"c{number}", WhatAmI.CLIENT, [gateways]))
    return _make_plan(nodes, rng.random() < 0.75, rng)


def _router_links(count: int, rng: Random) -> list[tuple[int, int]]:
    line = [(number, number + 1) for number in range(count - 1)]
    shape = rng.choice(("line", "ring", "star", "mesh", "any"))
    if shape == "ring" and count > 2:
        return [*line, (0, count - 1)]
    if shape == "star":
        return [(0, number) for number in range(1, count)]
    if shape == "mesh":
        return [(one, other) for other in range(count) for one in range(other)]
    if shape == "any":
        links = {(rng.randrange(number), number) for number in range(1, count)}
        for _ in range(count // 2):
            one, other = sorted(rng.sample(range(count), 2))
            links.add((one, other))
        return sorted(links)
    return line


def _link(nodes: list[NodePlan], one: int, other: int, rng: Random) -> None:
    opener, acceptor = rng.sample((one, other), 2)
    nodes[opener].connects.append([acceptor])


def _make_plan(nodes: list[NodePlan], is_stream: bool, rng: Random) -> Plan:
    """Choose the properties of the nodes and of the network, and the amount of work."""
    is_low_latency = is_stream and rng.random() < 0.1
    for node in nodes:
        _vary(node, rng, is_low_latency)
    plan = Plan(
        nodes,
        is_stream=is_stream,
        delay_s=rng.choice((0.0, 0.001, 0.01, 0.04)),
        jitter_s=rng.choice((0.0, 0.001, 0.04)),
        bytes_per_s=rng.choice((2e5, 1e6, 1e8)),
        operations=rng.choice((20, 50, 100, 150)),
        faults=rng.choice((0, 2, 4, 8, 12)),
    )
    if rng.random() < 0.4:
        # With few keys, many declarations have the same key.
        plan.keys, plan.wild_keys = ("a", "a/b"), ("a/*", "**")
    if not is_stream and rng.random() < 0.7:
        plan.loss = rng.choice((0.0, 0.02, 0.1))
        plan.duplication = rng.choice((0.0, 0.1))
        plan.reordering = rng.choice((0.0, 0.05))
        for node in nodes:
            # With 7 bits, a datagram that is 64 behind counts as newer (wire ref. §6.5).
            node.resolution |= 0x01
    return plan


def _vary(node: NodePlan, rng: Random, is_low_latency: bool) -> None:
    node.lease_ms = rng.choice(_LEASES_MS)
    node.clock_offset_s = rng.choice((0.0, 1.0, 12_345.678, 1e6))
    node.clock_rate = 1 + rng.uniform(-2e-4, 2e-4)
    node.is_timestamping = rng.random() < 0.4
    node.is_compressed = rng.random() < 0.3
    if is_low_latency:
        node.is_low_latency = True
        node.is_qos = False
        return
    node.batch_size = rng.choice(_BATCH_SIZES)
    node.resolution = rng.choice(_RESOLUTIONS)
    node.is_qos = rng.random() < 0.85
