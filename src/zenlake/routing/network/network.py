"""`Network`: nodes that know how all of them are linked (behaviour reference §4.7).

Routers form a network; so do peers where gossip is multihop, and the linkstate peers of releases
up to 1.8. All nodes know the same graph (`flooding`) and compute the same trees.

    flooding = network.flooding
    flooding.add_link(face, now)               a neighbour
    yield from flooding.receive(face, m, now)  link states of it
    flooding.remove_link(face, now)
    network.pop_departed()                     after each of these: nodes that are gone
    network.next_deadline()                    when the trees are to be computed again:
    network.handle_timeout(now)
    for root in network.stale_roots():
        gained = yield from network.update_tree(root)
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from zenlake.routing.counters import Counters
from zenlake.routing.face import Face
from zenlake.routing.gossip.gossip import GossipedNode
from zenlake.routing.network.flooding import Flooding
from zenlake.routing.network.graph import NetworkGraph
from zenlake.routing.network.node import NetworkNode
from zenlake.routing.network.tree_cache import TreeCache
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import Work
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

DISTANCE_MAX: Final = 0xFFFF


class Network:
    __slots__ = ("flooding", "graph", "is_uniform", "trees")

    def __init__(
        self,
        zid: ZenohId,
        role: WhatAmI,
        settings: RoutingSettings,
        counters: Counters,
        work: Work,
        weights: dict[ZenohId, int],
    ) -> None:
        self.graph = NetworkGraph(zid, role, counters)
        self.trees = TreeCache(self.graph, work)
        self.flooding = Flooding(self.graph, self.trees, settings, counters, work, weights)
        self.is_uniform = False
        """Whether all nodes run this implementation, and so have the same trees (`note_lives`)."""

    # Changes, for routing.

    def pop_departed(self) -> list[ZenohId]:
        """Nodes that were removed or restarted since the last call; their declarations are gone."""
        left = self.graph.left
        self.graph.left = []
        return left

    def pop_forgotten(self) -> list[tuple[Face, ZenohId]]:
        """Neighbours, and nodes that they forgot, since the last call."""
        forgotten = self.flooding.forgotten
        self.flooding.forgotten = []
        return forgotten

    def note_lives(self) -> None:
        """Update `is_uniform`: deployed nodes up to 1.4 lose the weights of others' links.

        Only nodes of this implementation send and answer `Flooding.request_declarations`.
        """
        self.is_uniform = self.flooding.is_uniform()

    def has_discoveries(self) -> bool:
        return len(self.flooding.discoveries) > 0

    def pop_discoveries(self) -> list[GossipedNode]:
        """Nodes with locators that are not neighbours, since the last call."""
        found = [d for d in self.flooding.discoveries.values() if d.zid not in self.flooding.links]
        self.flooding.discoveries.clear()
        return found

    def next_deadline(self) -> float | None:
        """When `handle_timeout` must be called, None if no edge has changed."""
        return self.trees.next_deadline()

    def handle_timeout(self, now: float) -> bool:
        """Whether trees are to be computed again now: those of `stale_roots`."""
        return self.trees.handle_timeout(now)

    def stale_roots(self) -> list[ZenohId]:
        """Nodes whose trees are in use and older than the graph."""
        return [root.zid for root in self.trees.stale_roots()]

    def update_tree(self, root: ZenohId) -> Generator[None, None, list[Face]]:
        """Compute a tree again; the children it gained, which do not know what `root` declared."""
        node = self.graph.nodes.get(root)
        if node is None:
            return []
        gained = yield from self.trees.update(node)
        return self._faces_of(gained)

    # Lookups, for routing.

    def children(self, root: ZenohId) -> list[Face]:
        """The neighbours to which messages of `root` are forwarded; none if it is unknown."""
        node = self.graph.nodes.get(root)
        return [] if node is None else self._faces_of(self.trees.get(node).children)

    def next_hop(self, root: ZenohId, target: ZenohId) -> Face | None:
        """The neighbour that leads to `target` in the tree rooted at `root`."""
        nodes = self.graph.nodes
        root_node = nodes.get(root)
        target_node = nodes.get(target)
        if root_node is None or target_node is None:
            return None
        direction = self.trees.get(root_node).direction(target_node)
        link = None if direction is None else self.flooding.links.get(direction.zid)
        return None if link is None else link.face

    def parent(self, root: ZenohId) -> Face | None:
        """The neighbour towards `root` in its own tree: messages of `root` arrive from it."""
        node = self.graph.nodes.get(root)
        parent = None if node is None else self.trees.get(node).parent
        link = None if parent is None else self.flooding.links.get(parent.zid)
        return None if link is None else link.face

    def distance(self, target: ZenohId) -> int | None:
        """The weight of the path from this node, without its fraction; None if there is none."""
        own = self.graph.own
        node = self.graph.nodes.get(target)
        tree = self.trees.get(own)
        if node is None or (node is not own and tree.direction(node) is None):
            return None
        return min(DISTANCE_MAX, int(tree.distances[node.index]))

    def node_of(self, face: Face, node_id: int) -> ZenohId | None:
        """The node of a neighbour's NodeId; None if it is undefined, or the node has left.

        None also for a node that others list and that has no link state yet: the NodeId may be of
        an earlier life. Neighbours send the state again, as this node announces version 0 of it.
        """
        zid = face.psids.get(node_id)
        node = None if zid is None else self.graph.nodes.get(zid)
        return None if node is None or node.sn == 0 else zid

    def role_of(self, zid: ZenohId) -> WhatAmI:
        """The role of a node; a router if its link state has none."""
        node = self.graph.nodes.get(zid)
        return WhatAmI.ROUTER if node is None or node.role is None else node.role

    def psid_of(self, zid: ZenohId) -> int | None:
        """Our NodeId for a node, 0 for this one."""
        node = self.graph.nodes.get(zid)
        return None if node is None else node.index

    def _faces_of(self, nodes: list[NetworkNode]) -> list[Face]:
        faces: list[Face] = []
        for node in nodes:
            link = self.flooding.links.get(node.zid)
            if link is not None:
                faces.append(link.face)
        return faces
