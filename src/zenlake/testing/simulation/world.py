"""World: all nodes of a run, the wires between them, and the course of the run.

work      operations and faults, for WORK_S
calm      no more faults; lossy wires are renewed; all nodes connect again
checks    promises, knowledge, then some more work that must all succeed
end       everything is undeclared, then closed; nothing may be left
"""

from __future__ import annotations

from math import inf
from random import Random
from typing import Final

from zenlake.testing.simulation.application import Application
from zenlake.testing.simulation.faults import Faults
from zenlake.testing.simulation.journal import InvariantError, Journal
from zenlake.testing.simulation.ledger import Ledger
from zenlake.testing.simulation.leftovers import (
    check_closed,
    check_no_complaints,
    check_nothing_declared,
)
from zenlake.testing.simulation.model import Model
from zenlake.testing.simulation.node import SimulatedNode
from zenlake.testing.simulation.plan import WORK_S, Plan, make_plan, make_router_plan
from zenlake.testing.simulation.reach import Reach
from zenlake.testing.simulation.timeline import Timeline
from zenlake.testing.simulation.wire import Wire
from zenlake.testing.simulation.wire_end import WireEnd
from zenlake.testing.simulation.workload import Workload
from zenlake.wire import ZenohId

_FIRST_WORK_S: Final = 0.5
_CALM_MIN_S: Final = 4.5
"""Longer than any query takes."""
_CALM_MAX_S: Final = 16.0
_QUIET_S: Final = 3.5
"""The time after the last change of a session in which all declarations arrive."""
_MORE_WORK_S: Final = 3.0
_REST_S: Final = 4.5
_LAST_REST_S: Final = 2.5


class World:
    """One run of one seed."""

    def __init__(
        self,
        seed: int,
        plan: Plan | None = None,
        *,
        with_routers: bool = False,
        two_homes: bool = False,
        keeps_all: bool = False,
    ) -> None:
        self.seed = seed
        self._rng = Random(seed)
        if plan is None:
            plan = (
                make_router_plan(self._rng, two_homes=two_homes)
                if with_routers
                else make_plan(self._rng)
            )
        self.plan = plan
        self._was_lossy = self.plan.is_lossy
        self.timeline = Timeline()
        self.journal = Journal(self.timeline, keeps_all=keeps_all)
        self.reach = Reach(self)
        self.ledger = Ledger(self)
        self.wires: list[Wire] = []
        self.parted: frozenset[int] = frozenset()
        """The nodes of one side while the network is in two parts, by index."""

        self.changed_at = 0.0
        """When a session began, failed or ended last."""

        self.nodes: list[SimulatedNode] = []
        self._applications: dict[SimulatedNode, Application] = {}
        """The application of each node of the run, including nodes that have ended."""

        self._work = Workload(self, self._rng)
        self._faults = Faults(self, self._rng)

    # --- nodes and wires -------------------------------------------------------------------------

    def _make_node(self, index: int, zid: ZenohId) -> SimulatedNode:
        node = SimulatedNode(self, self.plan.nodes[index], zid, Random(self._rng.random()))
        self._applications[node] = Application(node)
        return node

    def _new_zid(self) -> ZenohId:
        return ZenohId.from_int(self._rng.getrandbits(128) | 1 << 120)

    def application(self, node: SimulatedNode) -> Application:
        return self._applications[node]

    def restart(self, node: SimulatedNode, keeps_zid: bool) -> None:
        index = self.nodes.index(node)
        again = self._make_node(index, node.zid if keeps_zid else self._new_zid())
        self.nodes[index] = again
        self.journal.note(again.name, "is back as %s", again.zid)
        again.start()

    def connect(self, node: SimulatedNode, target: int) -> WireEnd | None:
        """Open a wire to a running node, and begin the handshake."""
        other = self.nodes[target]
        index = self.nodes.index(node) if node in self.nodes else -1
        if not other.is_running or (index in self.parted) != (target in self.parted):
            return None
        wire = Wire(len(self.wires), self.plan, self.timeline, self._rng, self.journal)
        self.wires.append(wire)
        end = WireEnd(node, wire, 0)
        WireEnd(other, wire, 1)
        end.start()
        return end

    # --- the course of a run ---------------------------------------------------------------------

    def run(self) -> None:
        try:
            self.start()
            self._plan_work()
            self.timeline.run_until(WORK_S)
            self._calm_down()
            self._wait_for_calm()
            self.check()
            self._work_undisturbed()
            self.check()
            self.end()
        finally:
            self.free()

    def free(self) -> None:
        """Empty the tables of all nodes, also of those that were killed.

        The garbage collector finds no cycles that lead through compiled tables (face_map.py,
        tree_node.py), so a world would never be freed.
        """
        for node in self._applications:
            node.core.close()
            node.dispatcher.close()

    def start(self) -> None:
        for index in range(len(self.plan.nodes)):
            self.nodes.append(self._make_node(index, self._new_zid()))
        for node in self.nodes:
            node.start()

    def _plan_work(self) -> None:
        rng = self._rng
        for _ in range(self.plan.operations):
            self.timeline.call_at(rng.uniform(_FIRST_WORK_S, WORK_S), self._work.do_one)
        for _ in range(self.plan.faults):
            self.timeline.call_at(rng.uniform(1.0, WORK_S - 1.0), self._faults.inject_one)

    def _calm_down(self) -> None:
        self.journal.note("world", "no more faults")
        plan = self.plan
        if plan.loss or plan.reordering or plan.duplication:
            plan.loss = plan.reordering = plan.duplication = 0.0
            for wire in self.wires:
                wire.cut(silently=False)
                for end in wire.ends:
                    end.arrived_end()
        self.heal()
        for node in self.nodes:
            node.resume()

    def part(self, indices: frozenset[int], *, silently: bool) -> None:
        """Partition the network: from now on no wire connects these nodes to the others."""
        self.parted = indices
        side = [self.nodes[index] for index in sorted(indices)]
        for wire in self.wires:
            if wire.failed_at == inf and len({end.node in side for end in wire.ends}) == 2:
                wire.cut(silently=silently)

    def heal(self) -> None:
        self.parted = frozenset()

    def index_of(self, locator: str) -> int:
        """The node that listens at a locator."""
        names = [plan.name for plan in self.plan.nodes]
        return names.index(locator.removeprefix("tcp/").partition(":")[0])

    def _wait_for_calm(self) -> None:
        """Run until all links have worked for a while; `check` fails if they never do."""
        timeline = self.timeline
        timeline.run_until(WORK_S + _CALM_MIN_S)
        while timeline.now < WORK_S + _CALM_MAX_S and not self._is_calm():
            timeline.run_until(timeline.now + 0.5)

    def _is_calm(self) -> bool:
        now = self.timeline.now
        return (
            self.changed_at + _QUIET_S <= now
            and all(node.is_running for node in self.nodes)
            and all(one.end is not None for node in self.nodes for one in node.connectors)
            and all(end.wire.is_up for node in self.nodes for end in node.ends)
        )

    def check(self) -> None:
        """Check, in an idle network, that no message is missing and all declarations are known."""
        self.journal.note("world", "checks")
        self.ledger.check()
        Model(self).check()
        for wire in self.wires:
            if wire.is_up:
                self._check_answers(wire)
        for node in self.nodes:
            check_no_complaints(node, self._was_lossy)

    def _check_answers(self, wire: Wire) -> None:
        assert wire.check is not None
        for side, requests in enumerate(wire.check.open_requests):
            if requests:
                raise InvariantError(f"{wire.ends[side]}: {requests} without a final")
        if interests := wire.check.accounts.unanswered():
            raise InvariantError(f"wire {wire.number}: interests {interests} without a final")

    def _work_undisturbed(self) -> None:
        rng, now = self._rng, self.timeline.now
        for _ in range(self.plan.operations // 3):
            self.timeline.call_at(now + rng.uniform(0.0, _MORE_WORK_S), self._work.do_one)
        self.timeline.call_at(now + _MORE_WORK_S, self._work.publish_everywhere)
        self.timeline.run_until(now + _MORE_WORK_S + _REST_S)

    def end(self) -> None:
        """Undeclare and close everything; nothing may be left."""
        self.journal.note("world", "everything is undeclared")
        for node in self.nodes:
            node.run(self._applications[node].finish)
        self.timeline.run_until(self.timeline.now + _LAST_REST_S)
        for node in self.nodes:
            check_nothing_declared(node)
        for node in self.nodes:
            node.close()
        self.timeline.run_until(self.timeline.now + 1.0)
        for node in self.nodes:
            check_closed(node)
        if any(wire.failed_at == inf for wire in self.wires):
            raise InvariantError("a wire is still open")
