"""TrackedTopology: the current link states that one side of a link has announced.

It has the newest state of each node, and since when each of its links is announced with this
weight. `items` returns one list of link states for each time at which links were added, so that a
reader that starts from them finds the same adjacencies with the same times.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import RECORDING_LINK_STATE_NODES_MAX, RECORDING_LINK_STATES_PER_NODE_MAX
from zenlake.recording.tracked_items import Budget, Item
from zenlake.wire import LinkState, LinkStateList, Oam
from zenlake.wire.kinds import LINK_STATE_OAM_ID
from zenlake.wire.values.qos import QoS
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

_NODE_BYTES: Final = 256
"""The memory of a node without its locators and links."""
_EDGE_BYTES: Final = 96


class Announcement:
    """When and where a list of link states was sent."""

    __slots__ = ("batch", "lane", "order", "qos", "time_ns")

    def __init__(self, order: int, batch: int, time_ns: int, lane: int, qos: QoS | None) -> None:
        self.order = order
        self.batch = batch
        self.time_ns = time_ns
        self.lane = lane
        self.qos = qos


class Edge:
    """A link of a node: since when it is announced with this weight, and in which version."""

    __slots__ = ("is_over", "since", "sn", "weight")

    def __init__(self, since: Announcement, sn: int, weight: int) -> None:
        self.since = since
        self.sn = sn
        self.weight = weight
        self.is_over = False
        """Whether the session between the nodes ended: further announcements change nothing."""


class AnnouncedNode:
    """The state of one node as one side of a link has announced it."""

    __slots__ = (
        "edges",
        "first",
        "first_sn",
        "gateway",
        "held_bytes",
        "last",
        "locators",
        "role",
        "sn",
        "zid",
    )

    def __init__(self, zid: ZenohId, first: Announcement, sn: int) -> None:
        self.zid = zid
        self.first = self.last = first
        self.first_sn = self.sn = sn
        self.role: WhatAmI | None = None
        self.locators: tuple[str, ...] | None = None
        self.gateway = False
        self.edges: dict[int, Edge] = {}
        """By the psid of the neighbour."""
        self.held_bytes = 0

    def size(self) -> int:
        """The memory that the budget counts for this node."""
        size = _NODE_BYTES + len(self.edges) * _EDGE_BYTES
        for locator in self.locators or ():
            size += len(locator)
        return size


class TrackedTopology:
    """The nodes that one side of a link has announced, by the sender's psid."""

    __slots__ = ("_budget", "nodes")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.nodes: dict[int, AnnouncedNode] = {}

    def apply(self, states: tuple[LinkState, ...], announced: Announcement) -> None:
        """Applies a list of link states. A psid without a zid is ignored, as readers do."""
        for state in states:
            if state.zid is not None:
                self._name(state.psid, state.zid, state.sn, announced)
        for state in states:
            node = self.nodes.get(state.psid)
            if node is not None:
                self._update(node, state, announced)
                self._charge(state.psid, node)

    def _name(self, psid: int, zid: ZenohId, sn: int, announced: Announcement) -> None:
        known = self.nodes.get(psid)
        if known is not None and known.zid == zid:
            return
        if known is not None:
            self._remove(psid)
        if len(self.nodes) < RECORDING_LINK_STATE_NODES_MAX:
            self.nodes[psid] = AnnouncedNode(zid, announced, sn)
        else:
            self._budget.forgotten += 1

    def _update(self, node: AnnouncedNode, state: LinkState, announced: Announcement) -> None:
        node.last = announced
        if state.whatami is not None:
            node.role = state.whatami
        if state.locators is not None:
            node.locators = state.locators
        if state.sn < node.sn:
            return
        node.sn = state.sn
        node.gateway = state.gateway
        weights = state.weights or ()
        edges: dict[int, Edge] = {}
        for index, psid in enumerate(state.links):
            if psid in self.nodes:
                weight = weights[index] if index < len(weights) else 0
                known = node.edges.get(psid)
                if known is None or known.weight != weight:
                    known = Edge(announced, state.sn, weight)
                edges[psid] = known
        # If all psids of the links are unknown, the known links remain.
        if edges or not state.links:
            node.edges = edges

    def _charge(self, psid: int, node: AnnouncedNode) -> None:
        size = node.size()
        growth = size - node.held_bytes
        if growth > 0 and not self._budget.has_room(growth):
            self._remove(psid)
            return
        self._budget.bytes += growth
        node.held_bytes = size

    def _remove(self, psid: int) -> None:
        """Forgets a psid, and the links to it."""
        self._budget.bytes -= self.nodes.pop(psid).held_bytes
        for node in self.nodes.values():
            node.edges.pop(psid, None)

    def forget(self) -> None:
        """Drops all nodes at the end of the session."""
        for node in self.nodes.values():
            self._budget.bytes -= node.held_bytes
        self.nodes = {}

    def unlink(self, one: ZenohId, other: ZenohId) -> None:
        """Marks the links between two nodes as over, because their session ended."""
        for _, _, edge in self._edges_between(one, other):
            edge.is_over = True

    def relink(self, one: ZenohId, other: ZenohId) -> None:
        """Two nodes have a session again: later announcements are about another link."""
        for node, psid, edge in self._edges_between(one, other):
            if edge.is_over:
                del node.edges[psid]

    def _edges_between(self, one: ZenohId, other: ZenohId) -> list[tuple[AnnouncedNode, int, Edge]]:
        found = []
        for node in self.nodes.values():
            if node.zid == one or node.zid == other:
                neighbour = other if node.zid == one else one
                for psid, edge in node.edges.items():
                    if self.nodes[psid].zid == neighbour:
                        found.append((node, psid, edge))
        return found

    def items(self) -> list[Item]:
        """The lists of link states that bring a reader to this state, with their times."""
        found: dict[int, tuple[Announcement, list[LinkState]]] = {}
        for psid, node in self.nodes.items():
            for announced, state in _states(psid, node):
                found.setdefault(announced.order, (announced, []))[1].append(state)
        items = []
        for announced, states in found.values():
            body = bytes(LinkStateList(tuple(states)))
            data = bytes(Oam(LINK_STATE_OAM_ID, announced.qos, body=body))
            items.append(
                Item(
                    announced.order,
                    announced.batch,
                    announced.time_ns,
                    announced.lane,
                    data,
                    None,
                    None,
                )
            )
        return items


def _states(psid: int, node: AnnouncedNode) -> list[tuple[Announcement, LinkState]]:
    """The states of a node: one for each time at which links were added, and the newest."""
    times = {node.first.order: node.first}
    for edge in node.edges.values():
        if edge.is_over:
            continue
        times[edge.since.order] = edge.since
    orders = [order for order in sorted(times) if order < node.last.order]
    # Links that were added later appear in the newest state only.
    orders = orders[: RECORDING_LINK_STATES_PER_NODE_MAX - 1]
    found = [(times[order], _state_at(psid, node, order)) for order in orders]
    newest = _state_at(psid, node, node.last.order)
    newest.sn, newest.locators = node.sn, node.locators
    return [*found, (node.last, newest)]


def _state_at(psid: int, node: AnnouncedNode, order: int) -> LinkState:
    """The links that have been announced without a break since this order."""
    links, weights, sn = [], [], node.first_sn
    for neighbour, edge in node.edges.items():
        if edge.since.order <= order and not edge.is_over:
            links.append(neighbour)
            weights.append(edge.weight)
            sn = max(sn, edge.sn)
    return LinkState(
        psid,
        sn,
        tuple(links),
        gateway=node.gateway,
        zid=node.zid,
        whatami=node.role,
        weights=tuple(weights) if any(weights) else None,
    )
