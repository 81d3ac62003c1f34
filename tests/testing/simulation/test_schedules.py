"""Random schedules on three nodes against a model of the rules (limits: Q01).

The nodes are a peer, a client of it, and a second peer or client. The network becomes idle between
two steps, so the result of each step is known exactly: which subscribers get a publication, which
queryables get a query, which listeners get a token, and which declarations every node knows.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.chance import IS_FULL
from zenlake.keyexpr.matching import includes, intersects
from zenlake.testing.simulation import World
from zenlake.testing.simulation.application import Application
from zenlake.testing.simulation.node import SimulatedNode
from zenlake.testing.simulation.plan import NodePlan, Plan
from zenlake.testing.simulation.records import Get, Queryable
from zenlake.wire import ConsolidationMode, QoS, QueryTarget, WhatAmI

SCHEDULES = 2_000 if IS_FULL else 25
STEP_S = 3.5
"""Longer than it takes to connect again, and than any query."""
LEASE_MS = 60_000
KEYS = ("a", "a/b", "a/*", "a/**", "**", "b", "*/b")

names = st.sampled_from((0, 1, 2))
keys = st.sampled_from(KEYS)
targets = st.sampled_from(QueryTarget)
modes = st.sampled_from(ConsolidationMode)


def three_nodes(second: WhatAmI) -> Plan:
    nodes = [
        NodePlan("p0", WhatAmI.PEER),
        NodePlan("n1", second, [[0]]),
        NodePlan("c2", WhatAmI.CLIENT, [[0]]),
    ]
    for node in nodes:
        node.lease_ms = LEASE_MS
    return Plan(nodes)


class Schedule(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World(1, three_nodes(WhatAmI.PEER))

    @initialize(second=st.sampled_from((WhatAmI.PEER, WhatAmI.CLIENT)))
    def start(self, second: WhatAmI) -> None:
        self.world = World(1, three_nodes(second))
        self.world.start()

    def run_until_idle(self) -> None:
        self.world.timeline.run_until(self.world.timeline.now + STEP_S)

    # The model.

    def regions(self, source: SimulatedNode) -> list[list[SimulatedNode]]:
        """The groups of nodes among which the route of a query chooses (§4.5)."""
        clients = [node for node in self.world.nodes if node.role == WhatAmI.CLIENT]
        others = [[node] for node in self.world.nodes if node not in clients]
        return [*others, [node for node in clients if node is not source], [source]]

    def check_receivers(self, get: Get) -> None:
        for nodes in self.regions(get.node):
            asked = {one for one in self.queryables(nodes, get.key) if get.number in one.received}
            assert asked in self.choices(get, nodes), [str(one) for one in asked]

    def choices(self, get: Get, nodes: list[SimulatedNode]) -> list[set[Queryable]]:
        """All that match, all that are complete, or the complete ones of one node."""
        found = set(self.queryables(nodes, get.key))
        complete = {one for one in found if one.is_complete and includes(one.key, get.key)}
        if get.target == QueryTarget.ALL_COMPLETE:
            return [complete]
        if get.target == QueryTarget.ALL or not complete or len(nodes) == 1:
            return [found]
        return [{one for one in found if one.node is best.node} for best in complete]

    def queryables(self, nodes: list[SimulatedNode], key: str) -> list[Queryable]:
        return [
            one
            for one in self.world.ledger.queryables
            if one.is_live and one.node in nodes and intersects(one.key, key)
        ]

    # Steps.

    def run(self, name: int, operation: Callable[[Application], None]) -> None:
        """Run an operation of a node's application."""
        node = self.world.nodes[name]
        node.run(lambda: operation(self.world.application(node)))

    @rule(name=names, key=keys)
    def subscribes(self, name: int, key: str) -> None:
        self.run(name, lambda application: application.subscribe(key))

    @rule(name=names, key=keys, is_complete=st.booleans())
    def serves(self, name: int, key: str, is_complete: bool) -> None:
        self.run(name, lambda application: application.serve(key, is_complete))

    @rule(name=names, key=keys)
    def declares_token(self, name: int, key: str) -> None:
        self.run(name, lambda application: application.declare_token(key))

    @rule(name=names, key=keys, with_history=st.booleans())
    def watches(self, name: int, key: str, with_history: bool) -> None:
        self.run(name, lambda application: application.watch(key, with_history))

    @rule(name=names, key=keys, is_querier=st.booleans())
    def declares_source(self, name: int, key: str, is_querier: bool) -> None:
        self.run(
            name, lambda application: application.declare_source(key, is_querier, listens=True)
        )

    @rule(name=names, choice=st.integers(0, 100))
    def undeclares(self, name: int, choice: int) -> None:
        if live := self.world.ledger.live(self.world.nodes[name]):
            record = live[choice % len(live)]
            self.run(name, lambda application: application.undeclare(record))

    @rule(name=names, key=keys, count=st.integers(1, 3))
    def publishes(self, name: int, key: str, count: int) -> None:
        """The ledger promises each publication to all subscribers in reach."""
        for _ in range(count):
            self.run(name, lambda application: application.publish(key, QoS(5), 8))
        self.run_until_idle()
        for publication in self.world.ledger.publications[-count:]:
            for subscriber in self.world.ledger.subscribers:
                if subscriber.is_live:
                    matches = intersects(subscriber.key, key)
                    assert (publication.number in subscriber.seen) == matches

    @rule(name=names, key=keys, aim=targets, mode=modes)
    def queries(self, name: int, key: str, aim: QueryTarget, mode: ConsolidationMode) -> None:
        self.run(name, lambda application: application.get(key, 3.0, aim, mode, None))
        get = self.world.ledger.gets[-1]
        self.run_until_idle()
        self.check_receivers(get)

    @rule(name=names, key=keys)
    def queries_tokens(self, name: int, key: str) -> None:
        self.run(name, lambda application: application.get_liveliness(key, 3.0))
        get = self.world.ledger.gets[-1]
        self.run_until_idle()
        tokens = self.world.ledger.tokens
        assert get.keys == {one.key for one in tokens if one.is_live and intersects(one.key, key)}

    @rule(name=names, keeps_zid=st.booleans())
    def closes_and_comes_back(self, name: int, keeps_zid: bool) -> None:
        node = self.world.nodes[name]
        self.world.application(node).leave()
        node.close()
        self.run_until_idle()
        self.world.restart(node, keeps_zid)
        self.run_until_idle()

    # Invariants.

    @invariant()
    def declarations_are_known_everywhere(self) -> None:
        self.run_until_idle()
        self.world.check()

    def teardown(self) -> None:
        self.run_until_idle()
        self.world.end()


Schedule.TestCase.settings = settings(
    max_examples=SCHEDULES,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestSchedules = Schedule.TestCase
