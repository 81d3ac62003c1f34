"""Lists of link states: how one node describes the nodes it knows, on one link.

A list names nodes by the sender's numbers for them (*psids*). Each side remembers what the numbers
of the other stand for.
"""

from __future__ import annotations

from collections.abc import Generator

from zenlake.errors import WireError
from zenlake.limits import LINK_STATE_LIST_BYTES_MAX, LINK_STATES_PER_LIST_MAX, NETWORK_NODES_MAX
from zenlake.routing.face import CONTROL, Face
from zenlake.routing.gossip.gossip import LINK_STATE
from zenlake.routing.network.node import NetworkNode
from zenlake.routing.work import Work
from zenlake.wire import LinkState, LinkStateList, Oam, decode_link_state
from zenlake.wire.primitives import FIELD_ERRORS, read_count
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId


class NetworkLink:
    """A link to a neighbour in the same network."""

    __slots__ = (
        "announced",
        "face",
        "has_described_itself",
        "introduced",
        "node",
        "relayed_state",
    )

    def __init__(self, face: Face, node: NetworkNode) -> None:
        self.face = face
        self.node = node
        self.has_described_itself = False
        """Whether the neighbour has described itself on this link."""

        self.introduced: set[ZenohId] = set()
        """Nodes that the neighbour has introduced on this link."""

        self.relayed_state: Statement | None = None
        """A newer state of the neighbour that other nodes sent, and it has not."""

        self.announced: dict[int, NetworkNode] = {}
        """The nodes that our numbers stand for on this link."""

    def send(self, states: list[LinkState]) -> None:
        body = bytes(LinkStateList(tuple(states)))
        self.face.send(Oam(LINK_STATE, CONTROL, body=body), "")

    def describe(
        self,
        node: NetworkNode,
        *,
        is_new: bool,
        with_links: bool,
        locators: tuple[str, ...] | None,
    ) -> LinkState:
        """The state of a node; with its id if the neighbour may not know our psid for it."""
        is_announced = not is_new and self.announced.get(node.index) is node
        self.announced[node.index] = node
        links: list[int] = []
        weights: list[int] = []
        has_weight = False
        if with_links:
            for target, weight in node.links.items():
                links.append(target.index)
                weights.append(weight)
                has_weight = has_weight or weight != 0
        return LinkState(
            node.index,
            node.sn,
            tuple(links),
            gateway=node.is_gateway,
            zid=None if is_announced else node.zid,
            whatami=node.role,
            locators=locators,
            weights=tuple(weights) if has_weight else None,
        )


class Statement:
    """A link state whose numbers are resolved."""

    __slots__ = ("is_gateway", "is_introduction", "links", "locators", "role", "sn", "zid")

    def __init__(self, zid: ZenohId, state: LinkState, links: dict[ZenohId, int]) -> None:
        self.zid = zid
        self.sn = state.sn
        self.role = WhatAmI.ROUTER if state.whatami is None else state.whatami
        self.locators = state.locators
        self.is_gateway = state.gateway
        self.links = links
        self.is_introduction = state.zid is not None
        """Whether it defines its psid: the sender has just learnt of the node."""


def read_statements(
    face: Face, body: bytes, work: Work
) -> Generator[None, None, list[Statement] | None]:
    """Decode a list in as many slices as it takes; None if it is malformed or too long.

    Undefined psids are ignored, as deployed nodes do. A psid may be defined after its use, within
    the same list.
    """
    if len(body) > LINK_STATE_LIST_BYTES_MAX:
        face.account.refuse("limits/routing/link_state_list_bytes", LINK_STATE_LIST_BYTES_MAX)
        return None
    states: list[LinkState] = []
    count: int
    pos: int
    try:
        count, pos = read_count(body, 0, len(body), LINK_STATES_PER_LIST_MAX)
    except FIELD_ERRORS:
        return None
    while len(states) < count:
        try:
            state, pos = decode_link_state(body, pos, len(body))
        except WireError:
            return None
        states.append(state)
        if state.zid is not None:
            _number(face, state.psid, state.zid)
        work.steps -= 2 + len(state.links)
        if work.steps <= 0:
            yield
    statements: list[Statement] = []
    for state in states:
        zid = state.zid if state.zid is not None else face.psids.get(state.psid)
        if zid is not None:
            statements.append(Statement(zid, state, _links_of(face, state)))
            work.steps -= 2 + len(state.links)
            if work.steps <= 0:
                yield
    return statements


def forgot(link: NetworkLink, statement: Statement) -> bool:
    """Whether a neighbour introduces a node again: it forgot all about it.

    A node with version 0 it knows by id only, and will introduce again.
    """
    if not statement.is_introduction:
        return False
    if statement.sn == 0:
        link.introduced.discard(statement.zid)
        return True
    is_known = statement.zid in link.introduced
    if len(link.introduced) >= 2 * NETWORK_NODES_MAX:
        link.introduced.clear()
    link.introduced.add(statement.zid)
    return is_known


def _number(face: Face, psid: int, zid: ZenohId) -> None:
    if len(face.psids) < 2 * NETWORK_NODES_MAX or psid in face.psids:
        face.psids[psid] = zid


def _links_of(face: Face, state: LinkState) -> dict[ZenohId, int]:
    links: dict[ZenohId, int] = {}
    weights = state.weights
    for place, psid in enumerate(state.links):
        zid = face.psids.get(psid)
        if zid is not None:
            links[zid] = weights[place] if weights is not None else 0
    return links
