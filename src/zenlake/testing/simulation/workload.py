"""Workload: operations of applications, at times and places that the seed chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

from zenlake.session import Locality
from zenlake.testing.simulation.application import Application
from zenlake.testing.simulation.records import SourceRecord
from zenlake.wire import CongestionControl, ConsolidationMode, Priority, QoS, QueryTarget

if TYPE_CHECKING:
    from zenlake.testing.simulation.world import World

_SIZES: Final = (0, 8, 8, 100, 900, 3_000)
_MODES: Final = tuple(ConsolidationMode)
_TARGETS: Final = (QueryTarget.ALL, QueryTarget.ALL, QueryTarget.ALL_COMPLETE, *QueryTarget)
_PRIORITIES: Final = tuple(Priority)[1:]


class Workload:
    """Runs operations: each kind is one method; `do_one` chooses one."""

    def __init__(self, world: World, rng: Random) -> None:
        self._world = world
        self._rng = rng
        self._operations: list[tuple[str, Callable[[Application], None]]] = [
            ("put", self._publish),
            ("subscriber", self._subscribe),
            ("undeclare", self._undeclare),
            ("get", self._get),
            ("queryable", self._serve),
            ("token", self._token),
            ("liveliness subscriber", self._watch),
            ("liveliness get", self._get_liveliness),
            ("publisher or querier", self._declare_source),
            ("cancel", Application.cancel_one),
        ]
        self._weights = (30, 10, 12, 10, 6, 6, 5, 4, 6, 1)

    def do_one(self) -> None:
        """Run one operation on a node that is not paused."""
        rng = self._rng
        name, operation = rng.choices(self._operations, self._weights)[0]
        nodes = [node for node in self._world.nodes if node.is_running and not node.is_paused]
        if not nodes:
            return
        node = rng.choice(nodes)
        self._world.journal.count(name)
        node.run(lambda: operation(self._world.application(node)))

    def publish_everywhere(self) -> None:
        """Publish once from each node: all subscribers in reach must get it."""
        for node in self._world.nodes:
            self._world.journal.count("put")
            node.run(partial(self._publish, self._world.application(node)))

    def _key(self, wildness: float) -> str:
        rng, plan = self._rng, self._world.plan
        return rng.choice(plan.wild_keys if rng.random() < wildness else plan.keys)

    def _publish(self, application: Application) -> None:
        rng = self._rng
        qos = QoS.of(
            rng.choice((Priority.DATA, rng.choice(_PRIORITIES))),
            rng.choice(tuple(CongestionControl)),
            rng.random() < 0.1,
        )
        largest = application.node.plan.is_low_latency
        size = rng.choice(_SIZES[:4] if largest else _SIZES)
        key = self._key(0.1)
        destination = self._locality()
        for _ in range(rng.choice((1, 1, 3))):
            application.publish(key, qos, None if rng.random() < 0.1 else size, destination)

    def _locality(self) -> Locality:
        return self._rng.choice(tuple(Locality)) if self._rng.random() < 0.15 else Locality.ANY

    def _subscribe(self, application: Application) -> None:
        application.subscribe(self._key(0.5), self._locality())

    def _serve(self, application: Application) -> None:
        application.serve(self._key(0.5), self._rng.random() < 0.4, self._locality())

    def _token(self, application: Application) -> None:
        application.declare_token(self._key(0.1))

    def _watch(self, application: Application) -> None:
        application.watch(self._key(0.6), self._rng.random() < 0.6)

    def _declare_source(self, application: Application) -> None:
        rng = self._rng
        is_querier = rng.random() < 0.4
        application.declare_source(self._key(0.3), is_querier, listens=rng.random() < 0.5)

    def _undeclare(self, application: Application) -> None:
        found = self._world.ledger.live(application.node)
        if found:
            application.undeclare(self._rng.choice(found))

    def _get(self, application: Application) -> None:
        rng = self._rng
        live = self._world.ledger.live(application.node)
        queriers = [one for one in live if isinstance(one, SourceRecord) and one.is_querier]
        querier = rng.choice(queriers) if queriers and rng.random() < 0.5 else None
        key = self._key(0.4) if querier is None else querier.key
        timeout_s = rng.choice((0.05, 1.0, 3.0))
        application.get(key, timeout_s, rng.choice(_TARGETS), rng.choice(_MODES), querier)

    def _get_liveliness(self, application: Application) -> None:
        application.get_liveliness(self._key(0.6), 3.0)
