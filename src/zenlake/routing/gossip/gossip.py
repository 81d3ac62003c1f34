"""`Gossip`: peers describe the nodes they know to each other, for discovery only (§4.7).

A peer describes itself and its direct neighbours to each new neighbour. The description that a
neighbour sends of itself is forwarded to the others, one hop; its description of a third node is a
`GossipedNode`, to which this node may connect.
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import WireError
from zenlake.limits import GOSSIP_DISCOVERIES_MAX, GOSSIP_PSIDS_MAX
from zenlake.routing.face import CONTROL, Face
from zenlake.routing.region import ABOVE, BESIDE
from zenlake.routing.tables import Tables
from zenlake.wire import LinkState, LinkStateList, Oam
from zenlake.wire.codec import decode_link_states
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

LINK_STATE: Final = 1
"""The id of the OAM message."""


class GossipedNode:
    """A node that another one described, to consider for a connection."""

    __slots__ = ("locators", "role", "zid")

    def __init__(self, zid: ZenohId, role: WhatAmI, locators: tuple[str, ...]) -> None:
        self.zid = zid
        self.role = role
        self.locators = locators

    def __repr__(self) -> str:
        return f"GossipedNode({self.zid}, {self.role}, {self.locators})"


class Neighbour:
    __slots__ = ("face", "locators", "psid", "sn")

    def __init__(self, face: Face, psid: int) -> None:
        self.face = face
        self.psid = psid
        """Our number for it; we are 0."""

        self.sn = 0
        """The version of its description of itself, 0 if none has arrived."""

        self.locators: tuple[str, ...] = ()


class Gossip:
    __slots__ = ("_discoveries", "_neighbours", "_own_sn", "_tables", "own_locators")

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.own_locators: list[str] = []
        self._own_sn = 1
        self._neighbours: dict[ZenohId, Neighbour] = {}
        self._discoveries: dict[ZenohId, GossipedNode] = {}

    def set_locators(self, locators: list[str]) -> None:
        """Where others can connect to this node."""
        self.own_locators = locators

    def add_face(self, face: Face) -> None:
        newcomer = self._new_neighbour(face)
        if newcomer is None:
            return
        self._own_sn += 1
        for neighbour in self._neighbours.values():
            if neighbour is not newcomer and neighbour.face.position == ABOVE:
                send_states(neighbour, [describe(newcomer), self._describe_self(True)])
        to_gateway = face.position == ABOVE
        states = [self._describe_self(to_gateway)]
        for neighbour in self._neighbours.values():
            states.append(describe(neighbour, to_gateway))
        send_states(newcomer, states)

    def _new_neighbour(self, face: Face) -> Neighbour | None:
        """A neighbour that takes part, None for others."""
        settings = self._tables.settings
        if (
            not settings.gossip
            or self._tables.role == WhatAmI.CLIENT
            or not settings.gossip_targets & face.role
            or face.is_multicast
            or face.position == BESIDE
            or face.zid in self._neighbours
        ):
            return None
        newcomer = Neighbour(face, self._free_psid())
        self._neighbours[face.zid] = newcomer
        return newcomer

    def remove_face(self, face: Face) -> None:
        neighbour = self._neighbours.get(face.zid)
        if neighbour is None or neighbour.face is not face:
            return
        del self._neighbours[face.zid]
        self._own_sn += 1
        for other in self._neighbours.values():
            if other.face.position == ABOVE:
                send_states(other, [self._describe_self(True)])

    def receive(self, face: Face, message: Oam) -> None:
        neighbour = self._neighbours.get(face.zid)
        if message.id != LINK_STATE or neighbour is None or neighbour.face is not face:
            self._tables.counters.unexpected_messages += 1
            return
        try:
            states = decode_link_states(message.body if isinstance(message.body, bytes) else b"")
        except WireError:
            self._tables.counters.malformed_gossip += 1
            return
        # Links may be to nodes that are described after them.
        zids = [_node_of(face, state) for state in states.link_states]
        for state, zid in zip(states.link_states, zids, strict=True):
            if zid is not None:
                self._read(neighbour, zid, state)
        self._finish(neighbour)

    def note_routers_changed(self) -> None:
        """Note that the network of routers has changed."""

    def _finish(self, neighbour: Neighbour) -> None:
        """Called after the last description in a message of a neighbour."""

    def _read(self, neighbour: Neighbour, zid: ZenohId, state: LinkState) -> None:
        """Handle the description of a node by a neighbour."""
        if zid == neighbour.face.zid:
            self._learn(neighbour, state)
        elif state.locators and zid not in self._neighbours and zid != self._tables.zid:
            self._discover(zid, state)

    def has_discoveries(self) -> bool:
        return len(self._discoveries) > 0

    def pop_discoveries(self) -> list[GossipedNode]:
        found = [d for d in self._discoveries.values() if d.zid not in self._neighbours]
        self._discoveries.clear()
        return found

    def _learn(self, neighbour: Neighbour, state: LinkState) -> None:
        """Handle the description of a neighbour by itself; new locators are forwarded."""
        if state.sn <= neighbour.sn:
            return
        neighbour.sn = state.sn
        if not state.locators or state.locators == neighbour.locators:
            return
        neighbour.locators = state.locators
        for other in self._neighbours.values():
            if other is not neighbour:
                send_states(other, [describe(neighbour, other.face.position == ABOVE)])

    def _discover(self, zid: ZenohId, state: LinkState) -> None:
        if len(self._discoveries) < GOSSIP_DISCOVERIES_MAX or zid in self._discoveries:
            role = WhatAmI.ROUTER if state.whatami is None else state.whatami
            self._discoveries[zid] = GossipedNode(zid, role, state.locators or ())

    def _describe_self(self, with_links: bool) -> LinkState:
        """The state of this node; its links are sent only to gateways (§4.7)."""
        links = [neighbour.psid for neighbour in self._neighbours.values()] if with_links else []
        return LinkState(
            0,
            self._own_sn,
            tuple(links),
            zid=self._tables.zid,
            whatami=self._tables.role,
            locators=tuple(self.own_locators) or None,
        )

    def _free_psid(self) -> int:
        used = {neighbour.psid for neighbour in self._neighbours.values()}
        psid = 1
        while psid in used:
            psid += 1
        return psid


def describe(neighbour: Neighbour, to_gateway: bool = True) -> LinkState:
    face = neighbour.face
    return LinkState(
        neighbour.psid,
        neighbour.sn,
        (),
        gateway=to_gateway and face.position == ABOVE,
        zid=face.zid,
        whatami=face.role,
        locators=neighbour.locators or None,
    )


def send_states(neighbour: Neighbour, states: list[LinkState]) -> None:
    body = bytes(LinkStateList(tuple(states)))
    neighbour.face.send(Oam(LINK_STATE, CONTROL, body=body), "")


def _node_of(face: Face, state: LinkState) -> ZenohId | None:
    """The node that an entry describes: by its zid, or by a psid that was defined before."""
    if state.zid is None:
        return face.psids.get(state.psid)
    if len(face.psids) < GOSSIP_PSIDS_MAX or state.psid in face.psids:
        face.psids[state.psid] = state.zid
    return state.zid
