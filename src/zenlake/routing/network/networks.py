"""`Networks`: the networks of this node, and what their changes do to declarations and routes."""

from __future__ import annotations

from collections.abc import Callable

from zenlake.routing.declarations.received_declarations import ReceivedDeclarations
from zenlake.routing.face import Face
from zenlake.routing.gossip.gossip import Gossip, GossipedNode
from zenlake.routing.network.election import Election
from zenlake.routing.network.sourced_region import SourcedRegion
from zenlake.routing.tables import Tables
from zenlake.routing.work import Job
from zenlake.wire import Oam
from zenlake.wire.values.whatami import WhatAmI


class Networks:
    """A router has the network of routers; it and a peer may have one of linkstate peers."""

    __slots__ = ("_declarations", "_gossip", "_regions", "_remove", "_tables", "_work")

    def __init__(
        self,
        tables: Tables,
        declarations: ReceivedDeclarations,
        gossip: Gossip,
        remove: Callable[[Face], Job],
    ) -> None:
        """`remove` makes the job that removes what a face has declared."""
        self._tables = tables
        self._work = tables.work
        self._declarations = declarations
        self._gossip = gossip
        self._remove = remove
        self._regions: list[SourcedRegion] = []
        settings = tables.settings
        if tables.role == WhatAmI.ROUTER:
            tables.routers = SourcedRegion(tables, tables.north, settings.link_weights)
            tables.north.sourced = tables.routers
            self._regions.append(tables.routers)
        if settings.linkstate_peers and tables.role != WhatAmI.CLIENT:
            peers = SourcedRegion(tables, tables.peers, settings.peer_link_weights)
            tables.peers.sourced = peers
            self._regions.append(peers)
            if tables.routers is not None:
                tables.election = Election(tables.zid, peers.network, tables.routers.network)

    def set_locators(self, locators: list[str]) -> None:
        for sourced in self._regions:
            sourced.network.flooding.own_locators = locators

    def add_link(self, face: Face, sourced: SourcedRegion, now: float) -> None:
        sourced.network.flooding.add_link(face, now)
        self._work.run(self._follow_parents(sourced))
        self._hold_election()

    def remove_link(self, face: Face, sourced: SourcedRegion, now: float) -> None:
        sourced.network.flooding.remove_link(face, now)
        sourced.parents.remove_neighbour(face)
        self._remove_departed(sourced)

    def receive(self, face: Face, message: Oam, now: float) -> Job:
        """Receive link states of a neighbour."""
        sourced = face.region.sourced
        if sourced is not None:
            yield from sourced.network.flooding.receive(face, message, now)
            sourced.note_forgotten()
            self._remove_departed(sourced)

    def next_deadline(self) -> float | None:
        """When `handle_timeout` must be called, None if nothing waits."""
        deadline: float | None = None
        for sourced in self._regions:
            other = sourced.next_deadline()
            if deadline is None or (other is not None and other < deadline):
                deadline = other
        return deadline

    def handle_timeout(self, now: float) -> None:
        for sourced in self._regions:
            if sourced.network.handle_timeout(now):
                self._work.run(self._update_trees(sourced))
            for source in sourced.parents.pop_complete(now):
                self._work.run(self._declarations.align(source, is_complete=True))

    def has_discoveries(self) -> bool:
        return any(sourced.network.has_discoveries() for sourced in self._regions)

    def pop_discoveries(self) -> list[GossipedNode]:
        return [one for sourced in self._regions for one in sourced.network.pop_discoveries()]

    def _remove_departed(self, sourced: SourcedRegion) -> None:
        """Remove what nodes declared that have left a network."""
        self._gossip.note_routers_changed()
        for source in sourced.pop_departed():
            self._work.run(self._remove(source))
        self._hold_election()

    def _hold_election(self) -> None:
        """Elect routers anew: others may carry messages between the two networks now."""
        election = self._tables.election
        changed = None if election is None else election.update(self._work)
        if election is None or not changed:
            return
        self._tables.forget_routes()
        for sourced in self._regions:
            for zid in changed:
                source = sourced.known_source(zid)
                if source is not None:
                    source.is_shared = zid in election.shared
                    self._work.run(self._declarations.announce_again(source))

    def _update_trees(self, sourced: SourcedRegion) -> Job:
        yield from sourced.update_trees()
        yield from self._follow_parents(sourced)

    def _follow_parents(self, sourced: SourcedRegion) -> Job:
        """Apply the reports of the neighbours that have become parents."""
        for source in sourced.parents.pop_changed(self._tables.now):
            yield from self._declarations.align(source, is_complete=False)
