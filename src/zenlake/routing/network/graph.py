"""`NetworkGraph`: the nodes of a network, their links, and the accounts that their memory is on."""

from __future__ import annotations

from collections import deque
from typing import Final

from zenlake.limits import NETWORK_LINKS_MAX, NETWORK_NODES_MAX
from zenlake.routing.counters import Counters
from zenlake.routing.memory import Account
from zenlake.routing.network.node import NetworkNode, node_bytes
from zenlake.routing.network.weights import EdgeHashes, edge_weight
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

FREE_INDICES: Final = 16
"""How many indices of nodes that left are kept unused."""


class NetworkGraph:
    """Two nodes share an edge while each lists the other."""

    __slots__ = (
        "_counters",
        "_free_indices",
        "hashes",
        "left",
        "link_count",
        "nodes",
        "own",
        "version",
    )

    def __init__(self, zid: ZenohId, role: WhatAmI, counters: Counters) -> None:
        self._counters = counters
        self.own = NetworkNode(zid, role, 0, 0)
        self.own.sn = 1
        self.nodes: dict[ZenohId, NetworkNode] = {zid: self.own}
        self._free_indices: deque[int] = deque()
        """Indices of nodes that left, reused in this order: messages with one may still be in
        flight."""

        self.hashes = EdgeHashes()
        self.link_count = 0
        """The links that all nodes list."""

        self.version = 0
        """Incremented whenever an edge changes."""

        self.left: list[ZenohId] = []

    @property
    def size(self) -> int:
        """A number above every index in use."""
        return len(self.nodes) + len(self._free_indices)

    def add_neighbour(self, zid: ZenohId, role: WhatAmI, account: Account) -> NetworkNode:
        """Add a node that this one is linked to; no limit applies."""
        node = self._add(zid, role)
        self._charge_bare(node, account)
        return node

    def add_distant(
        self, zid: ZenohId, role: WhatAmI | None, account: Account
    ) -> NetworkNode | None:
        """A node in a link state of a neighbour; None, and counted, beyond the limits."""
        if len(self.nodes) >= NETWORK_NODES_MAX:
            account.refuse("limits/routing/network_nodes", NETWORK_NODES_MAX)
        elif account.charge(node_bytes(0, None)):
            node = self._add(zid, role)
            node.account = account
            node.charged_bytes = node_bytes(0, None)
            return node
        self._counters.refused_link_states += 1
        return None

    def _add(self, zid: ZenohId, role: WhatAmI | None) -> NetworkNode:
        is_free = len(self._free_indices) > FREE_INDICES
        index = self._free_indices.popleft() if is_free else self.size
        node = NetworkNode(zid, role, index, self.version + 1)
        self.nodes[zid] = node
        return node

    def set_link(self, target: NetworkNode, weight: int) -> None:
        """List `target` as linked to this node, with the configured weight, 0 for none."""
        own = self.own
        if target not in own.links:
            self.link_count += 1
        own.links[target] = weight
        if own in target.links:
            self._join(own, target)

    def remove_link(self, target: NetworkNode) -> None:
        del self.own.links[target]
        self.link_count -= 1
        self._part(self.own, target)

    def set_links(self, node: NetworkNode, links: dict[NetworkNode, int]) -> None:
        """Replace the links that another node lists."""
        self.link_count += len(links) - len(node.links)
        node.links = links
        for target in list(node.edges):
            if target not in links:
                self._part(node, target)
        for target in links:
            if node in target.links:
                self._join(node, target)

    def has_room(self, node: NetworkNode, link_count: int, account: Account) -> bool:
        """Whether a node may list so many links; counted if not."""
        if self.link_count - len(node.links) + link_count <= NETWORK_LINKS_MAX:
            return True
        account.refuse("limits/routing/network_links", NETWORK_LINKS_MAX)
        self._counters.refused_link_states += 1
        return False

    def _join(self, node: NetworkNode, other: NetworkNode) -> None:
        hash = self.hashes.get(node.zid, other.zid)
        weight = edge_weight(node.links[other], other.links[node], hash)
        if node.edges.get(other) != weight:
            node.edges[other] = weight
            other.edges[node] = weight
            self.version += 1

    def _part(self, node: NetworkNode, other: NetworkNode) -> None:
        if other in node.edges:
            del node.edges[other]
            del other.edges[node]
            self.version += 1

    def remove_unreachable(self) -> list[NetworkNode]:
        """Remove nodes that no remaining node lists; a one-sided link keeps a node."""
        reached = {self.own}
        stack = [self.own]
        while stack:
            for target in stack.pop().links:
                if target not in reached:
                    reached.add(target)
                    stack.append(target)
        if len(reached) == len(self.nodes):
            return []
        removed = [node for node in self.nodes.values() if node not in reached]
        for node in removed:
            self._remove(node)
        return removed

    def _remove(self, node: NetworkNode) -> None:
        """Remove a node; all nodes that list it are removed as well."""
        del self.nodes[node.zid]
        self._free_indices.append(node.index)
        self.link_count -= len(node.links)
        node.links = {}
        node.edges = {}
        if node.account is not None:
            node.account.release(node.charged_bytes)
        self.left.append(node.zid)

    def charge(
        self,
        node: NetworkNode,
        account: Account,
        link_count: int,
        locators: tuple[str, ...] | None,
    ) -> bool:
        """Charge a node to the neighbour that described it last; False, and counted, if refused."""
        if node.account is not None:
            node.account.release(node.charged_bytes)
        size = node_bytes(link_count, locators)
        if account.charge(size):
            node.account = account
            node.charged_bytes = size
            return True
        self._counters.refused_link_states += 1
        self._charge_bare(node, account)
        return False

    def _charge_bare(self, node: NetworkNode, account: Account) -> None:
        node.account = account
        node.charged_bytes = node_bytes(0, None)
        account.add(node.charged_bytes)

    def move_charges(self, account: Account, heir: Account) -> None:
        """Move charges of a neighbour that is gone: others still list the nodes it described."""
        for node in self.nodes.values():
            if node.account is account:
                account.release(node.charged_bytes)
                heir.add(node.charged_bytes)
                node.account = heir

    def by_index(self) -> list[NetworkNode]:
        return sorted(self.nodes.values(), key=_index_of)


def _index_of(node: NetworkNode) -> int:
    return node.index
