"""`Flooding`: how link states spread through a network (behaviour reference §4.7).

Every node describes itself: its neighbours, in versions that only grow (`sn`). A node that
receives a newer version forwards it, so that all nodes know the same graph.

Some rules differ from deployed nodes. A restarted node is recognised and believed at once,
although link states of its earlier life may still spread: a node that receives a state of its
earlier life starts one more (versions.py). While a neighbour is linked, only its own link states
count, even if their version is smaller than before. A neighbour that sends an old version is sent
the new one, as it may have dropped the node.
"""

from __future__ import annotations

from zenlake.limits import GOSSIP_DISCOVERIES_MAX
from zenlake.routing.counters import Counters
from zenlake.routing.face import Face
from zenlake.routing.gossip.gossip import LINK_STATE, GossipedNode
from zenlake.routing.network.graph import NetworkGraph
from zenlake.routing.network.link_states import NetworkLink, Statement, forgot, read_statements
from zenlake.routing.network.node import NetworkNode
from zenlake.routing.network.tree_cache import TreeCache
from zenlake.routing.network.versions import SN_MAX, first_sn, life_of, sn_of_next_life
from zenlake.routing.network.weights import HASH_STEPS
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import SEND_STEPS, Job, Work
from zenlake.wire import LinkState, Oam
from zenlake.wire.values.zenoh_id import ZenohId

_Nodes = dict[NetworkNode, None]
"""A set that keeps its order."""


class Flooding:
    __slots__ = (
        "_counters",
        "_repeated",
        "_settings",
        "_weights",
        "_work",
        "discoveries",
        "forgotten",
        "graph",
        "links",
        "own_locators",
        "trees",
    )

    def __init__(
        self,
        graph: NetworkGraph,
        trees: TreeCache,
        settings: RoutingSettings,
        counters: Counters,
        work: Work,
        weights: dict[ZenohId, int],
    ) -> None:
        self.graph = graph
        self.trees = trees
        self._settings = settings
        self._counters = counters
        self._work = work
        self._weights = weights
        self.own_locators: list[str] = []
        """The locators of this node, sent if gossip is enabled."""

        self.links: dict[ZenohId, NetworkLink] = {}
        """Links to neighbours, by their faces."""

        self.discoveries: dict[ZenohId, GossipedNode] = {}
        """Nodes with locators, until `pop_discoveries`."""

        self.forgotten: list[tuple[Face, ZenohId]] = []
        """Neighbours, and nodes that they forgot, until `pop_forgotten`."""

        self._repeated: list[tuple[NetworkLink, Statement]] = []
        """States of neighbours that third nodes sent, to be sent to these neighbours."""

        graph.own.sn = first_sn(settings)

    # Links of this node.

    def add_link(self, face: Face, now: float) -> None:
        """Add a neighbour; a second link to the same node replaces the first."""
        graph = self.graph
        if face.zid == graph.own.zid:
            return
        node = graph.nodes.get(face.zid)
        is_new = node is None
        if node is None:
            node = graph.add_neighbour(face.zid, face.role, face.account)
        link = NetworkLink(face, node)
        self.links[face.zid] = link
        face.psids.clear()
        graph.set_link(node, self._weights.get(face.zid, 0))
        self.trees.forget_child(node)
        graph.own.sn += 1
        for other in self.links.values():
            if other is not link:
                states = [self._describe(other, node, True, False)] if is_new else []
                states.append(self._describe(other, graph.own, False))
                self._send(other, states)
        self._send(link, [self._describe(link, known, True) for known in graph.by_index()])
        self.trees.note_changes(now)

    def remove_link(self, face: Face, now: float) -> None:
        link = self.link_of(face)
        if link is None:
            return
        del self.links[face.zid]
        self.graph.remove_link(link.node)
        self._remove_unreachable()
        for other in self.links.values():
            self.graph.move_charges(face.account, other.face.account)
            if link.relayed_state is not None:
                link.relayed_state.is_introduction = False  # it was not received from the neighbour
                self._apply(other, [link.relayed_state])
            break
        self._announce_self()
        self.trees.note_changes(now)

    def set_weights(self, weights: dict[ZenohId, int], now: float) -> None:
        """Set the weights of the links of this node, by neighbour."""
        self._weights = weights
        is_changed = False
        for node, weight in list(self.graph.own.links.items()):
            new_weight = weights.get(node.zid, 0)
            if new_weight != weight:
                is_changed = True
                self.graph.set_link(node, new_weight)
        if is_changed:
            self._announce_self()
            self.trees.note_changes(now)

    def link_of(self, face: Face) -> NetworkLink | None:
        """The link over a face; None if another one to the same node has replaced it."""
        link = self.links.get(face.zid)
        return link if link is not None and link.face is face else None

    # Link states of neighbours.

    def receive(self, face: Face, message: Oam, now: float) -> Job:
        """Process a link-state list; other messages are counted."""
        if message.id != LINK_STATE or self.link_of(face) is None:
            self._counters.unexpected_messages += 1
            return
        body = message.body if isinstance(message.body, bytes) else b""
        statements = yield from read_statements(face, body, self._work)
        if statements is None:
            self._counters.malformed_gossip += 1
            return
        for statement in statements:
            self._work.steps -= HASH_STEPS * len(statement.links)
            for zid in statement.links:
                self.graph.hashes.get(statement.zid, zid)
            if self._work.steps <= 0:
                yield
        link = self.link_of(face)
        if link is not None:
            self._apply(link, statements)
            self.trees.note_changes(now)

    def _apply(self, link: NetworkLink, statements: list[Statement]) -> None:
        """Apply a list as one change: halfway through it, nodes may look unreachable."""
        graph = self.graph
        new: _Nodes = {}
        updated: _Nodes = {}
        behind: _Nodes = {}
        ignorant: _Nodes = {}
        is_own_old = False
        is_first = not link.has_described_itself
        is_learned = False
        for statement in statements:
            node = graph.nodes.get(statement.zid)
            if forgot(link, statement) and not is_first:
                self._note_forgotten(link, statement, ignorant)
            if node is graph.own:
                is_own_old = self._is_own_old(statement) or is_own_old
                continue
            if node is None:
                node = graph.add_distant(statement.zid, statement.role, link.face.account)
                if node is None:
                    continue
                new[node] = None
            elif not self._is_news(link, node, statement):
                if statement.sn < node.sn and node is not link.node:
                    behind[node] = None
                continue
            elif node.sn == 0 or _is_later_life(node, statement):
                # All that the node had in an earlier life is forgotten.
                new[node] = None
            elif node not in new and statement.sn > node.sn:
                # An older version of a neighbour counts here, but other nodes would ignore it.
                updated[node] = None
            self._learn(link, node, statement, new)
            is_learned = True
        if is_learned:
            self._remove_unreachable()
            self._discover(new)
            self._discover(updated)
        self._pass_on(link, new, updated, behind, ignorant)
        self._repeat()
        if is_own_old:
            self._announce_self()
            for neighbour in self.links.values():
                # Neighbours forget what was declared in the earlier life, too.
                self.trees.forget_child_of(graph.own, neighbour.node)

    def _note_forgotten(self, link: NetworkLink, statement: Statement, ignorant: _Nodes) -> None:
        """Handle a neighbour that forgot what it sent and received about a node."""
        self.forgotten.append((link.face, statement.zid))
        node = self.graph.nodes.get(statement.zid)
        if node is None or node is link.node or (node is self.graph.own and statement.sn != 0):
            return
        self.trees.forget_child_of(node, link.node)
        if statement.sn == 0 < node.sn:
            ignorant[node] = None

    def _is_own_old(self, statement: Statement) -> bool:
        """Whether others know an older life of this node, with a version as large as its own."""
        own = self.graph.own
        if statement.sn < own.sn or statement.sn >= SN_MAX:
            return False
        if statement.sn == own.sn and _lists_same(own, statement):
            return False
        own.sn = sn_of_next_life(statement.sn)
        return True

    def _is_news(self, link: NetworkLink, node: NetworkNode, statement: Statement) -> bool:
        if link.node is node:
            return self._is_own_news(link, statement)
        if statement.sn <= node.sn:
            return False
        neighbour = self.links.get(node.zid)
        if (
            neighbour is None
            or not neighbour.has_described_itself
            or _is_later_life(node, statement)
        ):
            return True
        # The neighbour will send this state itself, unless the link is dead. If it was restarted,
        # it must learn of its earlier life, so the state is sent back to it.
        neighbour.relayed_state = statement
        self._repeated.append((neighbour, statement))
        return False

    def _is_own_news(self, link: NetworkLink, statement: Statement) -> bool:
        """Whether what a neighbour sends about itself is new."""
        node = link.node
        is_first = not link.has_described_itself
        link.has_described_itself = True
        if statement.sn > node.sn:
            return True
        if statement.sn == 0:
            return False
        if statement.sn == node.sn and not (is_first and not _lists_same(node, statement)):
            return False
        # Its own states arrive in order; those from others may be faster, or of an earlier life.
        self._send(link, [self._describe(link, node, False)])
        return True

    def _learn(
        self, link: NetworkLink, node: NetworkNode, statement: Statement, new: _Nodes
    ) -> None:
        """Apply a newer version of a node."""
        graph = self.graph
        account = link.face.account
        links = statement.links
        locators = node.locators if statement.locators is None else statement.locators
        if not graph.has_room(node, len(links), account):
            links = {}
        if not graph.charge(node, account, len(links), locators):
            links = {}
            locators = None
        if node.sn != 0 and life_of(node.sn) != life_of(statement.sn):
            graph.left.append(node.zid)
        node.sn = statement.sn
        node.role = statement.role
        node.is_gateway = statement.is_gateway
        node.locators = locators
        targets: dict[NetworkNode, int] = {}
        for zid, weight in links.items():
            target = graph.nodes.get(zid)
            if target is None:
                target = graph.add_distant(zid, None, account)
                if target is None:
                    continue
                new[target] = None
            if target is not node:
                targets[target] = weight
        graph.set_links(node, targets)

    def _remove_unreachable(self) -> None:
        self._work.steps -= self.graph.link_count
        for node in self.graph.remove_unreachable():
            self.trees.remove_root(node)

    def _discover(self, nodes: _Nodes) -> None:
        for node in nodes:
            role = node.role
            if not node.locators or role is None or node.zid in self.links:
                continue
            if len(self.discoveries) < GOSSIP_DISCOVERIES_MAX or node.zid in self.discoveries:
                self.discoveries[node.zid] = GossipedNode(node.zid, role, node.locators)

    # Link states that neighbours are sent.

    def _pass_on(
        self,
        source: NetworkLink,
        new: _Nodes,
        updated: _Nodes,
        behind: _Nodes,
        ignorant: _Nodes,
    ) -> None:
        """Send one message on each link: with several, nodes would look unreachable in between.

        The source gets the nodes of which it has an older version: it may have removed them as
        unreachable while we did not, and would not get them again. Nodes that it does not know
        are introduced again: it then expects their declarations from the start.
        """
        nodes = self.graph.nodes
        for link in self.links.values():
            states: list[LinkState] = []
            for node in new:
                if nodes.get(node.zid) is node:
                    states.append(self._describe(link, node, True))
            for node in behind if link is source else updated:
                if node is not link.node and nodes.get(node.zid) is node and node not in ignorant:
                    states.append(self._describe(link, node, False))
            for node in ignorant if link is source else ():
                if nodes.get(node.zid) is node and node not in new:
                    states.append(self._describe(link, node, True))
            if states:
                self._send(link, states)

    def request_declarations(self, face: Face, zid: ZenohId) -> None:
        """Ask a neighbour to declare again what a node has: send a state as if it were unknown."""
        link = self.link_of(face)
        node = self.graph.nodes.get(zid)
        if link is not None and node is not None:
            state = LinkState(node.index, 0, (), zid=zid, whatami=node.role)
            self._send(link, [state])

    def is_uniform(self) -> bool:
        """Whether all nodes that described themselves run this implementation."""
        return all(node.sn == 0 or life_of(node.sn) != 0 for node in self.graph.nodes.values())

    def _announce_self(self) -> None:
        self.graph.own.sn += 1
        for link in self.links.values():
            self._send(link, [self._describe(link, self.graph.own, False)])

    def _send(self, link: NetworkLink, states: list[LinkState]) -> None:
        self._work.steps -= SEND_STEPS + len(states)
        link.send(states)

    def _describe(
        self, link: NetworkLink, node: NetworkNode, is_new: bool, with_links: bool = True
    ) -> LinkState:
        settings = self._settings
        locators: tuple[str, ...] | None = None
        if settings.gossip and settings.gossip_targets & link.face.role:
            if node is self.graph.own:
                locators = tuple(self.own_locators)
            elif settings.gossip_multihop or node.zid in self.links:
                locators = node.locators
        return link.describe(node, is_new=is_new, with_links=with_links, locators=locators)

    def _repeat(self) -> None:
        """Send neighbours the states that third nodes sent about them; they know all nodes now."""
        nodes = self.graph.nodes
        for link, statement in self._repeated:
            links = {nodes[zid].index: w for zid, w in statement.links.items() if zid in nodes}
            weights = tuple(links.values())
            state = LinkState(
                link.node.index,
                statement.sn,
                tuple(links),
                whatami=statement.role,
                weights=weights if any(weights) else None,
            )
            self._send(link, [state])
        self._repeated.clear()


def _is_later_life(node: NetworkNode, statement: Statement) -> bool:
    return life_of(statement.sn) > life_of(node.sn)


def _lists_same(node: NetworkNode, statement: Statement) -> bool:
    """Whether a statement lists the same neighbours; weights are lost by relays up to 1.4."""
    if len(node.links) != len(statement.links):
        return False
    return all(target.zid in statement.links for target in node.links)
