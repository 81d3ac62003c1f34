"""`Dispatcher`: one per node; messages of all faces come in, messages to other faces go out.

It has no clock and no thread: the caller passes the time, and calls from one thread at a time.
Messages are sent within the calls, through the outlets of the faces.
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import LocalError
from zenlake.routing.counters import Counters
from zenlake.routing.declarations.announcer import Announcer
from zenlake.routing.declarations.declare_messages import send_final
from zenlake.routing.declarations.entity import KINDS, QUERYABLE, SUBSCRIBER
from zenlake.routing.declarations.gateway_interests import GatewayInterests
from zenlake.routing.declarations.received_declarations import ReceivedDeclarations
from zenlake.routing.declarations.received_interests import ReceivedInterests
from zenlake.routing.face import Face
from zenlake.routing.forwarding.explanation import Explainer
from zenlake.routing.forwarding.publications import PublicationForwarder
from zenlake.routing.forwarding.queries import QueryForwarder
from zenlake.routing.forwarding.route import Route
from zenlake.routing.forwarding.run_forwarder import RunForwarder
from zenlake.routing.gossip.gateway_gossip import GatewayGossip
from zenlake.routing.gossip.gossip import Gossip, GossipedNode
from zenlake.routing.gossip.multihop_gossip import MultihopGossip
from zenlake.routing.hlc import Hlc
from zenlake.routing.memory import Account
from zenlake.routing.network.networks import Networks
from zenlake.routing.outlet import LastRefusal, Outlet
from zenlake.routing.region import ABOVE, BELOW, BESIDE, EQUAL, position_of
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.stamps import Stamper
from zenlake.routing.tables import Tables
from zenlake.routing.work import (
    MESSAGE_STEPS,
    RUN_MESSAGES_PER_STEP,
    SLICE_STEPS,
    UNLIMITED,
    Job,
)
from zenlake.wire import (
    Declare,
    Interest,
    Oam,
    Push,
    Request,
    Response,
    ResponseFinal,
)
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import PushRun
from zenlake.wire.runs import expand_run
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

FORGOTTEN_KEYS_MAX: Final = 64
"""When a face with more declarations ends, all routes are forgotten, not only those to it."""


class Dispatcher:
    """The routing of a node (behaviour reference §3, §4)."""

    __slots__ = (
        "_announcer",
        "_declarations",
        "_forwarder",
        "_gateway_interests",
        "_gossip",
        "_interests",
        "_networks",
        "_publications",
        "_queries",
        "_work",
        "counters",
        "hlc",
        "refusal",
        "role",
        "stamper",
        "tables",
        "zid",
    )

    def __init__(self, zid: ZenohId, role: WhatAmI, settings: RoutingSettings) -> None:
        if settings.timestamping and settings.wall_ns is None:
            raise LocalError("timestamping needs a wall clock")
        self.zid = zid
        self.role = role
        self.hlc = Hlc(zid) if settings.timestamping else None
        """The clock of this node, None unless timestamping is enabled."""

        self.refusal = LastRefusal()
        """The error of an outlet about a message that is too large for it."""

        self.stamper = Stamper(zid, role, self.hlc, settings.wall_ns, settings.custom_time)
        self.tables = Tables(zid, role, settings)
        """Declarations and interests; read only for others, such as the admin space."""

        self.counters: Counters = self.tables.counters
        self._work = self.tables.work
        self._announcer = Announcer(self.tables)
        self._gateway_interests = GatewayInterests(self.tables)
        self._declarations = ReceivedDeclarations(
            self.tables, self._announcer, self._gateway_interests
        )
        self._interests = ReceivedInterests(self.tables, self._announcer, self._gateway_interests)
        self._publications = PublicationForwarder(
            self.tables, self.hlc, settings.wall_ns, self.stamper
        )
        self._forwarder = RunForwarder(self.tables, self._publications, self.hlc, settings.wall_ns)
        self._queries = QueryForwarder(self.tables, self.stamper)
        self._gossip = _gossip_of(self.tables)
        self._networks = Networks(self.tables, self._declarations, self._gossip, self._remove)

    @property
    def own_locators(self) -> list[str]:
        """Where others can connect to this node; set when the listeners are bound."""
        return self._gossip.own_locators

    @own_locators.setter
    def own_locators(self, locators: list[str]) -> None:
        self._gossip.set_locators(locators)
        self._networks.set_locators(locators)

    @property
    def explainer(self) -> Explainer:
        """Explains where messages would go, and why."""
        return Explainer(self.tables, self._publications)

    @property
    def faces(self) -> list[Face]:
        """All faces, the in-process ones first."""
        return [face for region in self.tables.regions for face in region.faces]

    def add_local(self, outlet: Outlet) -> Face:
        """A session in this process: a client of the local broker region."""
        region = self.tables.local
        face = Face(self.zid, WhatAmI.CLIENT, region, BELOW, outlet, Account(), is_local=True)
        region.add(face)
        return face

    def add_face(
        self,
        zid: ZenohId,
        role: WhatAmI,
        outlet: Outlet,
        now: float,
        *,
        is_multicast: bool = False,
        steps: int = UNLIMITED,
    ) -> Face:
        """Add an open transport; its initial declarations and interests are sent at once.

        With `is_multicast` it is a whole group: one face sends to all of its members; `zid` is
        then any, such as our own. Messages of members come from faces of their own (`add_member`).
        """
        self._work.steps = steps
        region = self.tables.peers if is_multicast else self.tables.region_of(role)
        sourced = None if is_multicast else region.sourced
        position = EQUAL if is_multicast else position_of(self.role, role)
        if sourced is not None:
            position = BESIDE
        account = self._new_account()
        face = Face(zid, role, region, position, outlet, account, is_multicast=is_multicast)
        region.add(face)
        if position != BELOW:  # the face may get publications before it has declared anything
            self.tables.forget_routes()
        self.tables.now = now
        self._gossip.add_face(face)
        if sourced is not None:
            self._networks.add_link(face, sourced, now)
        self._work.run_for(face, self._introduce(face))
        return face

    def _new_account(self) -> Account:
        return Account(self.tables.memory, self.tables.settings.face_bytes_max)

    def _introduce(self, face: Face) -> Job:
        """Send the initial declarations and interests to a new neighbour."""
        if face.position == ABOVE:
            yield from self._gateway_interests.forward_all(face)
        if face.position == ABOVE or face.position == EQUAL:
            yield from self._announcer.introduce(face)
        if face.position == EQUAL and not face.is_multicast and not face.is_gone:
            send_final(face, 0)

    def add_member(self, group: Face, zid: ZenohId, role: WhatAmI) -> Face:
        """Add a node of a group: its aliases and tokens are its own.

        No region knows of it, so nothing is sent to it alone.
        """
        account = self._new_account()
        return Face(zid, role, group.region, EQUAL, group.outlet, account, is_multicast=True)

    def remove_member(self, face: Face, steps: int) -> None:
        """Remove a node of a group, which has left it."""
        self._work.steps = steps
        face.is_gone = True
        self._work.run(self._remove(face))

    def remove_face(self, face: Face, now: float, steps: int = UNLIMITED) -> None:
        """A transport is closed or lost; nothing is sent to it any more.

        With `steps`, `run_jobs` does the rest of the removal. The face counts as gone at once.
        """
        if face.is_gone:
            return
        self._work.steps = steps
        face.is_gone = True
        face.job = None
        face.region.remove(face)
        self.tables.now = now
        self._gossip.remove_face(face)
        self._forget_routes_to(face)
        sourced = face.region.sourced
        if face.position == BESIDE and sourced is not None:
            self._networks.remove_link(face, sourced, now)
        self._work.run(self._remove(face))

    def _forget_routes_to(self, face: Face) -> None:
        """Make a face count as gone: no route leads to it from now on."""
        tables = self.tables
        if face.position != BELOW or face.declaration_count > FORGOTTEN_KEYS_MAX:
            tables.forget_routes()
            return
        for kind in (SUBSCRIBER, QUERYABLE):
            for entity in face.held[kind].values():
                tables.forget_routes_of(kind, entity.key)

    def _remove(self, face: Face) -> Job:
        """Remove the queries, interests and declarations of a face, and what was sent to it."""
        yield from self._queries.remove_face(face)
        yield from self._interests.remove_face(face)
        if face.position == ABOVE:
            yield from self._gateway_interests.remove_gateway(face)
        yield from self._declarations.remove_face(face)
        face.account.close()

    def close(self) -> None:
        """End the dispatcher, and clear the tables to break their cycles (face_map.py)."""
        self._work.jobs.clear()
        for face in self.faces:
            for kind in KINDS:
                face.held[kind].clear()
                face.announced[kind].clear()
        for table in self.tables.entities:
            table.close()
        self.tables.interests.close()
        self._queries.close()

    def receive(self, face: Face, message: NetworkMessage, reliable: bool, now: float) -> None:
        """Receive a message of an application in this process; it is complete on return.

        Only the answer to a CURRENT interest may take further slices.
        """
        work = self._work
        steps = work.steps
        work.steps = UNLIMITED
        if isinstance(message, Interest) and message.mode == InterestMode.CURRENT:
            work.steps = SLICE_STEPS
        self._receive(face, message, reliable, now)
        work.steps = steps  # the application may answer a query within another slice

    def _receive(self, face: Face, message: NetworkMessage, reliable: bool, now: float) -> None:
        if face.is_gone:
            return
        self.tables.now = now
        if isinstance(message, Push):
            self._publications.receive(face, message, reliable)
        elif isinstance(message, Response):
            self._queries.receive_response(face, message, reliable)
        elif isinstance(message, ResponseFinal):
            self._queries.receive_final(face, message)
        elif isinstance(message, Request):
            self._queries.receive_request(face, message, reliable, now)
        elif isinstance(message, Declare):
            self._declarations.receive(face, message)
        elif isinstance(message, Interest):
            self._interests.receive(face, message, now)
        elif isinstance(message, Oam):
            if face.position == BESIDE:
                self._work.run_for(face, self._networks.receive(face, message, now))
            else:
                self._gossip.receive(face, message)

    def receive_run(
        self,
        face: Face,
        messages: list[NetworkMessage],
        start: int,
        stop: int,
        reliable: bool,
        now: float,
        steps: int = UNLIMITED,
    ) -> int:
        """Receive `messages[start:stop]`, which arrived together, within so many steps.

        Returns the index of the first one that is left for a later slice. While `face.job` is
        set, `resume` must be called until it is not, before the next message.
        """
        work = self._work
        work.steps = steps
        stop = min(stop, len(messages))
        while start < stop and face.job is None and work.steps > 0:
            message = messages[start]
            if isinstance(message, PushRun):
                if face.is_gone:
                    start += 1
                elif self._forwarder.forward(face, message, reliable):
                    work.steps -= message.count // RUN_MESSAGES_PER_STEP + 1
                    start += 1
                else:
                    messages[start : start + 1] = expand_run(message)
                    stop = min(stop + message.count, len(messages))
            elif isinstance(message, Push) and not face.is_gone:
                after = self._publications.receive_run(face, messages, start, stop, reliable)
                work.steps -= after - start
                start = after
            else:
                work.steps -= MESSAGE_STEPS
                self._receive(face, message, reliable, now)
                start += 1
        return start

    def resume(self, face: Face, steps: int) -> None:
        """Continue the job of a face."""
        self._work.resume(face, steps)

    @property
    def has_jobs(self) -> bool:
        """Whether `run_jobs` has something to do."""
        return len(self._work.jobs) > 0

    def run_jobs(self, steps: int) -> bool:
        """Continue the jobs that no face waits for; returns whether any are left."""
        return self._work.run_jobs(steps)

    def only_destination(self, face: Face, key: str) -> Route | None:
        """The route of a session's publications on `key`, if it leads to a single link.

        Known once such a publication was received, and as long as the route is current.
        """
        return self._publications.only_destination(face, key)

    def sole_gateway(self, face: Face) -> Face | None:
        """The neighbour that gets all publications of a session and is the only one, if any."""
        return self._publications.sole_gateway(face)

    def next_deadline(self) -> float | None:
        """When `handle_timeout` must be called, None if nothing waits."""
        deadline = self._networks.next_deadline()
        for timers in (
            self._queries.timers,
            self._gateway_interests.timers,
            self._announcer.deferred_tokens.timers,
        ):
            other = timers.next_deadline()
            if deadline is None or (other is not None and other < deadline):
                deadline = other
        return deadline

    def handle_timeout(self, now: float) -> None:
        """Do what is due, within a slice; `next_deadline` stays in the past if that was not all."""
        self._work.steps = SLICE_STEPS
        self._queries.handle_timeout(now)
        self._gateway_interests.handle_timeout(now)
        self.tables.now = now
        self._declarations.handle_timeout(now)
        self._networks.handle_timeout(now)

    @property
    def has_discoveries(self) -> bool:
        """Whether `pop_discoveries` returns any; may be read without the lock."""
        return self._gossip.has_discoveries() or self._networks.has_discoveries()

    def pop_discoveries(self) -> list[GossipedNode]:
        """Nodes that gossip described since the last call and that are not neighbours."""
        return self._gossip.pop_discoveries() + self._networks.pop_discoveries()


def _gossip_of(tables: Tables) -> Gossip:
    settings = tables.settings
    if settings.gossip and settings.gossip_multihop and tables.role != WhatAmI.CLIENT:
        return MultihopGossip(tables)
    return GatewayGossip(tables) if tables.role == WhatAmI.ROUTER else Gossip(tables)
