"""SimulatedNode: one run of a node, made of the real components, with a clock of its own.

Its process may be paused: then all its events are deferred. It may be killed, with or without
notice to its neighbours; after a restart there is a new SimulatedNode.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final

from zenlake.protocol.reassembly import ReassemblyBudget
from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import UNLIMITED
from zenlake.session import SessionCore, SessionSettings
from zenlake.testing.simulation.items import FACTORY
from zenlake.testing.simulation.journal import InvariantError
from zenlake.testing.simulation.leftovers import check_gone
from zenlake.testing.simulation.plan import NodePlan
from zenlake.testing.simulation.wire_end import TURN_S, WireEnd
from zenlake.wire import CloseReason, WhatAmI, ZenohId

if TYPE_CHECKING:
    from zenlake.testing.simulation.world import World

_TICK_S: Final = 1e-6
_BACK_OFF_MAX_S: Final = 4.0
_WALL_NS: Final = 1_700_000_000_000_000_000
_TURN_STEPS: Final = (1, 60, UNLIMITED, UNLIMITED)
"""The steps of a slice in some nodes: work for one message is then divided into many slices."""


class Connector:
    """Keeps one connection to any node of a group, with growing pauses between attempts."""

    def __init__(self, node: SimulatedNode, group: list[int]) -> None:
        self._node = node
        self._group = group
        self._first = 0
        self._next = 0
        self._pause_s = 1.0
        self.end: WireEnd | None = None

    def connect(self) -> None:
        target = self._group[self._next % len(self._group)]
        self._next += 1
        self.end = self._node.world.connect(self._node, target)
        if self.end is None:
            self._try_later()

    def lost(self, end: WireEnd) -> None:
        if end is self.end:
            if end.transport is not None:
                self._pause_s = 1.0
                self._next = self._first
            self.end = None
            self._try_later()

    def move(self) -> None:
        """Disconnect from the current node, and connect to another one of the group."""
        self._first += 1
        if self.end is not None:
            self.end.close()

    @property
    def can_move(self) -> bool:
        return len(self._group) > 1 and self.end is not None and self.end.transport is not None

    def _try_later(self) -> None:
        self._node.later(self._pause_s * self._node.rng.uniform(0.8, 1.2), self._retry)
        self._pause_s = min(2 * self._pause_s, _BACK_OFF_MAX_S)

    def _retry(self) -> None:
        if self.end is None:
            self.connect()


class SimulatedNode:
    """Dispatcher, session, ends of wires and timers, driven by the timeline."""

    def __init__(self, world: World, plan: NodePlan, zid: ZenohId, rng: Random) -> None:
        self.world = world
        self.plan = plan
        self.name = plan.name
        self.role: WhatAmI = plan.role
        self.zid = zid
        self.rng = rng
        self.timeline = world.timeline
        self.journal = world.journal
        self.offer = plan.offer(zid)
        self.born_at = self.timeline.now
        self.stopped_at: float | None = None
        self.is_paused = False
        self.pauses: list[tuple[float, float]] = []
        self.wall_offset_ns = rng.choice((0, 0, -300_000_000, 3_600_000_000_000))
        self.budget = ReassemblyBudget()
        self.ends: list[WireEnd] = []
        self.touched: dict[WireEnd, None] = {}
        """The ends of wires with something to send."""
        self.leaving: list[Face] = []
        """Faces that are being removed."""
        self.slice_steps = _TURN_STEPS[zid.raw[0] % len(_TURN_STEPS)]
        self._is_job_due = False
        self.connectors = [Connector(self, group) for group in plan.connects]
        self._waiting: deque[Callable[[], None]] = deque()
        self._alarm_at = inf
        routing = RoutingSettings(
            timestamping=plan.is_timestamping, wall_ns=self.wall_ns, link_weights=self._weights()
        )
        self.dispatcher = Dispatcher(zid, plan.role, routing)
        if plan.is_found:
            self.dispatcher.own_locators = [f"tcp/{plan.name}:7447"]
        self.core = SessionCore(
            zid, self.dispatcher, FACTORY, self.wall_ns, SessionSettings(), self._complain
        )

    def discover(self) -> None:
        """Connect to peers announced by gossip; of two, the one with the greater id connects."""
        for found in self.dispatcher.pop_discoveries():
            if found.role == WhatAmI.PEER == self.role and found.zid < self.zid:
                self.journal.count("nodes found by gossip")
                self.world.connect(self, self.world.index_of(found.locators[0]))

    def _weights(self) -> dict[ZenohId, int]:
        """Weights of links, by the current ids of nodes; those not yet created are missing."""
        nodes = self.world.nodes
        weights = self.plan.weights.items()
        return {nodes[index].zid: weight for index, weight in weights if index < len(nodes)}

    def weigh(self, weights: dict[ZenohId, int]) -> None:
        """Set other weights for its links to routers."""
        routers = self.dispatcher.tables.routers
        assert routers is not None
        routers.network.flooding.set_weights(weights, self.now())
        self.world.reach.note_change()

    # --- clocks and chance -----------------------------------------------------------------------

    def now(self) -> float:
        """The monotonic clock of this node; its zero and its rate differ from those of others."""
        return self.plan.clock_offset_s + self.timeline.now * self.plan.clock_rate

    def wall_ns(self) -> int:
        return _WALL_NS + self.wall_offset_ns + int(self.timeline.now * 1e9)

    def entropy(self, count: int) -> bytes:
        return self.rng.randbytes(count)

    def _complain(self, text: str) -> None:
        raise InvariantError(f"{self.name}: {text}")

    # --- actions ---------------------------------------------------------------------------------

    def sources(self) -> dict[ZenohId, Face]:
        """The other routers that a router knows."""
        routers = self.dispatcher.tables.routers
        return {} if routers is None else routers._sources

    @property
    def is_below_others(self) -> bool:
        """Whether the node may have a gateway, to which it sends interests."""
        if self.role == WhatAmI.PEER:
            return any(node.role == WhatAmI.ROUTER for node in self.world.nodes)
        return self.role == WhatAmI.CLIENT

    def possible_gateways(self) -> list[SimulatedNode]:
        """The nodes that the node may connect to as gateways."""
        return [self.world.nodes[index] for group in self.plan.connects for index in group]

    @property
    def is_running(self) -> bool:
        return self.stopped_at is None

    def run(self, action: Callable[[], None]) -> None:
        """Run an action in this node, now or after its pause."""
        if not self.is_running:
            return
        if self.is_paused:
            self._waiting.append(action)
            return
        action()
        self.flush_outputs()

    def later(self, delay_s: float, action: Callable[[], None]) -> None:
        self.timeline.call_in(delay_s, lambda: self.run(action))

    def flush_outputs(self) -> None:
        """Serve sinks, wires and timers; called after each action."""
        for sink in self.core.pop_touched():
            sink.after_unlock()
        if not self.dispatcher.has_jobs:
            for face in self.leaving:
                check_gone(face)
            self.leaving.clear()
        elif not self._is_job_due:
            self._is_job_due = True
            self.later(TURN_S, self._run_jobs)
        if self.touched:
            touched, self.touched = self.touched, {}
            for end in touched:
                end.flush()
        self._arm(self._next_deadline())

    def _run_jobs(self) -> None:
        self._is_job_due = False
        self.dispatcher.run_jobs(self.slice_steps)

    def start(self) -> None:
        for connector in self.connectors:
            connector.connect()
        self.flush_outputs()

    def admit(self, zid: ZenohId) -> CloseReason | None:
        """Refuse a second session with a neighbour."""
        known = any(end.face is not None and end.face.zid == zid for end in self.ends)
        return CloseReason.MAX_LINKS if known else None

    def lost(self, end: WireEnd) -> None:
        if self.is_running:
            for connector in self.connectors:
                connector.lost(end)

    # --- time ------------------------------------------------------------------------------------

    def _next_deadline(self) -> float:
        """The deadline of routing and the session; `_ring` checks those of links."""
        deadline = self.core.next_deadline()
        other = self.dispatcher.next_deadline()
        if deadline is None or other is None:
            return inf if deadline is other else (deadline or other or 0.0)
        return min(deadline, other)

    def _arm(self, deadline: float) -> None:
        plan = self.plan
        at = (deadline - plan.clock_offset_s) / plan.clock_rate + _TICK_S
        at = max(at, self.timeline.now + _TICK_S)
        if at < self._alarm_at and self.is_running:
            self._alarm_at = at
            self.timeline.call_at(at, lambda: self._ring(at))

    def expect(self, end: WireEnd) -> None:
        """Schedule the deadlines of a session that is open."""
        deadline = end.next_deadline()
        if deadline is not None:
            self._arm(deadline)

    def _ring(self, at: float) -> None:
        if at == self._alarm_at:
            self._alarm_at = inf
            self.run(self._handle_timeouts)

    def _handle_timeouts(self) -> None:
        now = self.now()
        self.dispatcher.handle_timeout(now)
        deadline = self.core.next_deadline()
        if deadline is not None and deadline <= now:
            self.core.handle_timeout(now)
        for end in list(self.ends):
            end.handle_timeout(now)
            self.expect(end)

    # --- pauses ----------------------------------------------------------------------------------

    def pause(self) -> None:
        self.is_paused = True
        self.pauses.append((self.timeline.now, inf))

    def resume(self) -> None:
        """End a pause; timers or readers run first, at random."""
        if not self.is_paused:
            return
        self.is_paused = False
        self.pauses[-1] = (self.pauses[-1][0], self.timeline.now)
        waiting, self._waiting = list(self._waiting), deque()
        if self.rng.random() < 0.5:
            self.run(self._handle_timeouts)
        for action in waiting:
            self.run(action)

    def was_paused_since(self, since: float) -> bool:
        return any(stop >= since for _, stop in self.pauses)

    @property
    def resumed_at(self) -> float:
        """The end of its last pause; infinite while it lasts."""
        return self.pauses[-1][1] if self.pauses else self.born_at

    # --- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Shut down in good order, as `Session.close` does."""
        self.core.close()
        self.stopped_at = self.timeline.now
        for end in list(self.ends):
            end.close()

    def kill(self, *, silently: bool) -> None:
        self.stopped_at = self.timeline.now
        for end in list(self.ends):
            end.is_over = True
            end.wire.cut(silently=silently)
