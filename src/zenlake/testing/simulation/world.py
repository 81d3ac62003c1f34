"""World: all nodes of a run, who is linked to whom, and the course of the run.

work      operations and faults, for WORK_S
calm      no more faults; lossy wires are renewed; everybody finds each other again
checks    promises, knowledge, then some more work that must all succeed
end       everything is undeclared, then closed; nothing may be left
"""

from __future__ import annotations

from math import inf
from random import Random
from typing import Final

from zenlake.testing.simulation.application import Application
from zenlake.testing.simulation.end import End
from zenlake.testing.simulation.faults import Faults
from zenlake.testing.simulation.journal import Failure, Journal
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
from zenlake.testing.simulation.workload import Workload
from zenlake.wire import ZenohId

_FIRST_WORK_S: Final = 0.5
_CALM_S: Final = 16.0
_MORE_WORK_S: Final = 3.0
_REST_S: Final = 6.0


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
        self.nodes: list[SimulatedNode] = []
        self._applications: dict[SimulatedNode, Application] = {}
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

    def connect(self, node: SimulatedNode, target: int) -> End | None:
        """A wire to a node that runs; the handshake is under way."""
        other = self.nodes[target]
        if not other.is_running:
            return None
        wire = Wire(len(self.wires), self.plan, self.timeline, self._rng, self.journal)
        self.wires.append(wire)
        end = End(node, wire, 0)
        End(other, wire, 1)
        end.start()
        return end

    # --- the course of a run ---------------------------------------------------------------------

    def run(self) -> None:
        self.start()
        self._plan_work()
        self.timeline.run_until(WORK_S)
        self._calm_down()
        self.timeline.run_until(WORK_S + _CALM_S)
        self.check()
        self._work_undisturbed()
        self.check()
        self.end()

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
        for node in self.nodes:
            node.resume()

    def check(self) -> None:
        """All is quiet: nothing is missing, and everybody knows what there is."""
        self.journal.note("world", "checks")
        self.ledger.check()
        Model(self).check()
        for wire in self.wires:
            if wire.is_up:
                self._check_answers(wire)
        for node in self.nodes:
            check_no_complaints(node, self._was_lossy)

    def _check_answers(self, wire: Wire) -> None:
        assert wire.tap is not None
        for side, requests in enumerate(wire.tap.open_requests):
            if requests:
                raise Failure(f"{wire.ends[side]}: {requests} without a final")
        if interests := wire.tap.accounts.unanswered():
            raise Failure(f"wire {wire.number}: interests {interests} without a final")

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
        self.timeline.run_until(self.timeline.now + _REST_S)
        for node in self.nodes:
            check_nothing_declared(node)
        for node in self.nodes:
            node.close()
        self.timeline.run_until(self.timeline.now + 1.0)
        for node in self.nodes:
            check_closed(node)
        if any(wire.failed_at == inf for wire in self.wires):
            raise Failure("a wire is still open")
