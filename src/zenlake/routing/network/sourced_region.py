"""`SourcedRegion`: a region where everything travels along trees (§4.7).

Routers form such a region, and so do the linkstate peers of releases up to 1.8 with their routers.
An entity is declared by the node that has it, its *source*, and travels down the tree rooted
there; so do publications and queries, from the node where they entered the network. A source is a
`Face` without a link of its own: it holds what that node declared, from whichever neighbour the
declarations arrived. One more source stands for this node: what is announced to it is announced to
all other nodes.
"""

from __future__ import annotations

from zenlake.routing.declarations.declare_messages import (
    send_declaration,
    send_undeclaration_of_key,
)
from zenlake.routing.declarations.entity import KINDS, Entity
from zenlake.routing.face import Face
from zenlake.routing.forwarding.origin import Origin
from zenlake.routing.memory import Account
from zenlake.routing.network.network import Network
from zenlake.routing.network.parents import Parents
from zenlake.routing.network.withdrawals import Withdrawals
from zenlake.routing.outlet import Outlet
from zenlake.routing.region import BESIDE, Region
from zenlake.routing.tables import Tables
from zenlake.routing.work import SEND_STEPS, Job
from zenlake.wire import (
    Declare,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclaredKey,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

Declaration = DeclareSubscriber | DeclareQueryable | DeclareToken
Undeclaration = UndeclareSubscriber | UndeclareQueryable | UndeclareToken


class SourcedRegion:
    __slots__ = (
        "_is_stale",
        "_is_updating",
        "_sources",
        "_tables",
        "_withdrawals",
        "network",
        "own",
        "parents",
        "region",
    )

    def __init__(self, tables: Tables, region: Region, weights: dict[ZenohId, int]) -> None:
        self._tables = tables
        self.region = region
        self.network = Network(
            tables.zid, tables.role, tables.settings, tables.counters, tables.work, weights
        )
        self.parents = Parents(self.network)
        self._sources: dict[ZenohId, Face] = {}
        self._withdrawals = Withdrawals()
        self.own = self._new_source(tables.zid, tables.role, Account())
        region.unasked.append(self.own)
        self._is_updating = False
        self._is_stale = False

    # Sources.

    def source_of(self, face: Face, node_id: int | None) -> Face | None:
        """The node that sent a message first; None, and counted, if it is unknown."""
        zid = self.network.node_of(face, node_id) if node_id else face.zid
        if zid is None or zid == self._tables.zid:
            self._tables.counters.unknown_nodes += 1
            return None
        source = self._sources.get(zid)
        if source is None:
            account = Account(self._tables.memory, self._tables.settings.face_bytes_max)
            source = self._new_source(zid, self.network.role_of(zid), account)
            election = self._tables.election
            source.is_shared = election is not None and zid in election.shared
            source.origin = Origin(self.region, zid)
            source.origin.node_id = self.network.psid_of(zid)
            self._tables.add_origin(source.origin)
            self._sources[zid] = source
        return source

    def known_source(self, zid: ZenohId) -> Face | None:
        """The source of a node, None if it has declared and sent nothing so far."""
        return self._sources.get(zid)

    def _new_source(self, zid: ZenohId, role: WhatAmI, account: Account) -> Face:
        return Face(zid, role, self.region, BESIDE, Outlet(), account)

    def pop_departed(self) -> list[Face]:
        """The sources that have left the network since the last call; they count as gone.

        A restarted node has left, too: what it had before is gone.
        """
        left: list[Face] = []
        for zid in self.network.pop_departed():
            source = self._sources.pop(zid, None)
            if source is not None:
                self._withdrawals.remove_source(source)
                self.parents.remove_source(source)
                source.is_gone = True
                self._tables.remove_origin(source.origin)
                left.append(source)
        if left:
            self._tables.forget_routes()
        return left

    # Where messages go.

    def next_hop(self, origin: Origin, target: ZenohId) -> Face | None:
        """The neighbour that leads to a node, for messages of an origin.

        A message from another region enters the network here.
        """
        root = origin.root if origin.region is self.region else None
        return self.network.next_hop(self._tables.zid if root is None else root, target)

    # Declarations to other nodes.

    def note_declared(
        self, source: Face, sender: Face, kind: int, key: str, info: QueryableInfo
    ) -> bool:
        """Note that a neighbour reports an entity of another node; whether to believe it now."""
        if not self.parents.note_declared(source, sender, kind, key, info, self._tables.now):
            self._tables.counters.refused_declarations += 1
            return False
        if not self.parents.is_believed(source, sender):
            return False
        self._withdrawals.discard(source, kind, key)
        return True

    def note_undeclared(self, source: Face, sender: Face, kind: int, key: str) -> bool:
        """Note that a neighbour reports the end of an entity; whether to believe it."""
        self.parents.note_undeclared(source, sender, kind, key, self._tables.now)
        if not self.parents.is_believed(source, sender):
            return False
        self._withdrawals.add(source, kind, key, self._tables.now)
        return True

    def declare_down(self, source: Face, kind: int, key: str, info: QueryableInfo) -> None:
        """Declare an entity of a source, or a change of it, to its children."""
        self._withdrawals.discard(source, kind, key)
        for child in self.network.children(source.zid):
            self._declare(child, source, kind, key, info)

    def undeclare_down(self, source: Face, kind: int, key: str) -> None:
        """Undeclare an entity of a source to its children."""
        self._withdrawals.add(source, kind, key, self._tables.now)
        for child in self.network.children(source.zid):
            self._undeclare(child, source, kind, key)

    def pass_on(self, source: Face, sender: Face, message: Declare, key: str) -> None:
        """Forward a declaration of a source down its tree."""
        for child in self.network.children(source.zid):
            if child is sender:
                continue
            self._tables.work.steps -= SEND_STEPS
            copy = message.copy()
            copy.node_id = source.origin.node_id
            body = message.body
            if isinstance(body, (DeclareSubscriber, DeclareQueryable, DeclareToken)):
                declaration: Declaration = body.copy()
                declaration.key = child.declared(key)
                copy.body = declaration
            elif isinstance(body, (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)):
                undeclaration: Undeclaration = body.copy()
                undeclaration.key = UndeclaredKey(child.declared(key))
                copy.body = undeclaration
            child.send(copy, key)

    def _declare(self, child: Face, source: Face, kind: int, key: str, info: QueryableInfo) -> None:
        self._tables.work.steps -= SEND_STEPS
        send_declaration(child, kind, 0, key, info, node_id=source.origin.node_id)

    def _undeclare(self, child: Face, source: Face, kind: int, key: str) -> None:
        self._tables.work.steps -= SEND_STEPS
        send_undeclaration_of_key(child, kind, key, source.origin.node_id)

    # Trees that change.

    def update_trees(self) -> Job:
        """Compute the trees that are out of date, and declare everything to new children."""
        self._is_stale = True
        if self._is_updating:
            return
        self._is_updating = True
        while self._is_stale:
            self._is_stale = False
            for root in self.network.stale_roots():
                gained = yield from self.network.update_tree(root)
                if gained:
                    yield from self._declare_all(root, gained)
            self._tables.forget_routes()
        self._is_updating = False

    def _declare_all(self, root: ZenohId, children: list[Face]) -> Job:
        """Declare to new children what a root has, and undeclare what it has no longer."""
        source = self.own if root == self._tables.zid else self._sources.get(root)
        if source is None:
            return
        # A snapshot: later declarations go to the new children as well.
        entities: list[Entity] = []
        for kind in KINDS:
            entities += (
                source.announced[kind].values()
                if source is self.own
                else source.held[kind].values()
            )
        for entity in entities:
            for child in children:
                info = self._info_of(source, entity)
                if info is not None and not child.is_gone and not source.is_gone:
                    self._declare(child, source, entity.kind, entity.key, info)
                if self._tables.work.steps <= 0:
                    yield
        for kind, key in self._withdrawals.recent(source, self._tables.now):
            for child in children:
                if self._withdrawals.has(source, kind, key) and not child.is_gone:
                    self._undeclare(child, source, kind, key)
                if self._tables.work.steps <= 0:
                    yield

    def _info_of(self, source: Face, entity: Entity) -> QueryableInfo | None:
        """The info of an entity that a source has declared; None if it has not."""
        if source is self.own:
            announced = entity.announced.get(source)
            return None if announced is None else announced.info
        holding = entity.holders.get(source)
        return None if holding is None else holding.info

    def note_forgotten(self) -> None:
        """Restart the reports of neighbours that forgot some routers."""
        for face, zid in self.network.pop_forgotten():
            source = self._sources.get(zid)
            if source is not None:
                self.parents.void(source, face, self._tables.now)

    def next_deadline(self) -> float | None:
        """When trees must be computed, or reports of new parents are complete."""
        trees = self.network.next_deadline()
        at = self.parents.complete_at
        return trees if at is None or (trees is not None and trees < at) else at
