"""Topology: the links between nodes by link state, and the nodes in HELLO and SCOUT."""

from __future__ import annotations

from typing import Final

from zenlake.errors import WireError
from zenlake.trace.events import MessageSeen
from zenlake.trace.rows._generated.records import EdgeEventsRow, NodeEventsRow
from zenlake.trace.rows.rows import Rows
from zenlake.trace.session import Node, Session
from zenlake.wire import Hello, LinkState, Oam, Scout
from zenlake.wire.codec import decode_link_states

NAMES_MAX: Final = 65_536
"""How many numbers of nodes are remembered at most for one side of a session."""


class Topology:
    """Resolves the nodes in link states, where the sender uses its own numbers for nodes."""

    __slots__ = ("_is_wanted", "_names", "_rows")

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._is_wanted = any(
            rows.wanted(record) is not None for record in (EdgeEventsRow, NodeEventsRow)
        )
        self._names: dict[Node, dict[int, str]] = {}

    def add(self, event: MessageSeen, seq: int) -> None:
        if not self._is_wanted:
            return
        message = event.message
        if isinstance(message, Hello):
            locators = " ".join(message.locators or ()) or None
            self._node(event, str(message.zid), str(message.whatami), locators, event.sender)
        elif isinstance(message, Scout) and message.zid is not None:
            self._node(event, str(message.zid), None, None, event.sender)
        elif event.kind == "OAM/LINKSTATE" and event.ignored is None:
            self._link_states(event, seq)

    def forget(self, session: Session) -> None:
        """Drops the numbers of a session that ended."""
        for node in session.nodes:
            self._names.pop(node, None)

    def _link_states(self, event: MessageSeen, seq: int) -> None:
        message, sender = event.message, event.sender_node
        if sender is None or not isinstance(message, Oam) or not isinstance(message.body, bytes):
            return
        try:
            states = decode_link_states(message.body).link_states
        except WireError:
            return  # the column `detail` shows the error
        names = self._names.setdefault(sender, {})
        for state in states:
            if state.zid is not None and len(names) < NAMES_MAX:
                names[state.psid] = str(state.zid)
        for state in states:
            zid = names.get(state.psid)
            if zid is not None:
                self._state(event, seq, sender, zid, state, names)

    def _state(
        self,
        event: MessageSeen,
        seq: int,
        sender: Node,
        zid: str,
        state: LinkState,
        names: dict[int, str],
    ) -> None:
        role = None if state.whatami is None else str(state.whatami)
        self._node(event, zid, role, " ".join(state.locators or ()) or None)
        weights = state.weights or ()
        known = 0
        for index, psid in enumerate(state.links):
            neighbour = names.get(psid)
            if neighbour is None:
                continue
            known += 1
            # 0: no weight is set (behaviour reference §4.7).
            weight = (weights[index] or None) if index < len(weights) else None
            self._edge(event, seq, sender, zid, state.sn, True, neighbour, weight)
        if not known:
            self._edge(event, seq, sender, zid, state.sn, not state.links, None, None)

    def _edge(
        self,
        event: MessageSeen,
        seq: int,
        sender: Node,
        zid: str,
        sn: int,
        has_links: bool,
        neighbour: str | None,
        weight: int | None,
    ) -> None:
        edges = self._rows.wanted(EdgeEventsRow)
        if edges is None:
            return
        edges.append(
            EdgeEventsRow(
                session=event.session,
                link=event.link.name,
                packet=event.packet,
                time_ns=event.time_ns,
                seq=seq,
                told_by_zid=sender.zid,
                zid=zid,
                sn=sn,
                has_links=has_links,
                neighbour_zid=neighbour,
                weight=weight,
            )
        )

    def _node(
        self,
        event: MessageSeen,
        zid: str,
        role: str | None,
        locators: str | None,
        address: str | None = None,
    ) -> None:
        nodes = self._rows.wanted(NodeEventsRow)
        if nodes is None:
            return
        nodes.append(
            NodeEventsRow(
                zid=zid,
                role=role,
                locators=locators,
                first_ns=event.time_ns,
                last_ns=event.time_ns,
                address=address,
            )
        )
