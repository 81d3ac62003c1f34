"""Faults, at times and places that the seed chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final

from zenlake.wire import WhatAmI

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode
    from zenlake.testing.simulation.wire import Wire
    from zenlake.testing.simulation.world import World

_HOUR_NS: Final = 3_600_000_000_000
_WALL_JUMPS_NS: Final = (-_HOUR_NS, _HOUR_NS, 87_660 * _HOUR_NS, -1_000_000, 1_000_000_000)


class Faults:
    """Injects faults: each kind of fault is one method; `inject_one` chooses one."""

    def __init__(self, world: World, rng: Random) -> None:
        self._world = world
        self._rng = rng
        self._kinds: list[tuple[str, Callable[[], None]]] = [
            ("cut with notice", partial(self._cut, silently=False)),
            ("cut without notice", partial(self._cut, silently=True)),
            ("pause", self._pause),
            ("close and restart", self._close),
            ("kill and restart", partial(self._kill, silently=False)),
            ("power cut and restart", partial(self._kill, silently=True)),
            ("wall clock jump", self._jump),
        ]
        self._router_kinds = [
            *self._kinds,
            ("partition", self._part),
            ("other weights", self._weigh),
            ("move", self._move),
        ]

    def inject_one(self) -> None:
        has_routers = self._world.nodes[0].role == WhatAmI.ROUTER
        name, fault = self._rng.choice(self._router_kinds if has_routers else self._kinds)
        self._world.journal.count(f"fault: {name}")
        self._world.journal.note("fault", name)
        fault()

    def _running(self) -> list[SimulatedNode]:
        return [node for node in self._world.nodes if node.is_running and not node.is_paused]

    def _wires(self) -> list[Wire]:
        """All working wires, including those during the handshake."""
        return [wire for wire in self._world.wires if wire.failed_at == inf]

    def _cut(self, *, silently: bool) -> None:
        if wires := self._wires():
            self._rng.choice(wires).cut(silently=silently)

    def _pause(self) -> None:
        if nodes := self._running():
            node = self._rng.choice(nodes)
            pause_s = self._rng.choice((0.1, 0.7, 1.5, 3.0, 6.0))
            self._world.journal.note(node.name, "is paused for %s s", pause_s)
            node.pause()
            self._world.timeline.call_in(pause_s, node.resume)

    def _jump(self) -> None:
        node = self._rng.choice(self._world.nodes)
        node.wall_offset_ns += self._rng.choice(_WALL_JUMPS_NS)

    def _part(self) -> None:
        world, rng = self._world, self._rng
        count = len(world.nodes)
        if count < 2 or world.parted:
            return
        side = rng.sample(range(count), rng.randint(1, count - 1))
        names = ", ".join(world.nodes[index].name for index in sorted(side))
        world.journal.note("world", "is partitioned from %s", names)
        world.part(frozenset(side), silently=rng.random() < 0.5)
        world.timeline.call_in(rng.choice((0.5, 2.0, 5.0)), world.heal)

    def _weigh(self) -> None:
        """Change the weights of some links of a router."""
        routers = [node for node in self._running() if node.role == WhatAmI.ROUTER]
        if routers:
            node = self._rng.choice(routers)
            others = [one.zid for one in self._world.nodes if one.role == WhatAmI.ROUTER]
            chosen = self._rng.sample(others, self._rng.randint(0, len(others)))
            weights = {zid: self._rng.choice((1, 50, 300)) for zid in chosen}
            node.run(lambda: node.weigh(weights))

    def _move(self) -> None:
        nodes = [node for node in self._running() if any(one.can_move for one in node.connectors)]
        if nodes:
            node = self._rng.choice(nodes)
            connector = next(one for one in node.connectors if one.can_move)
            self._world.journal.note(node.name, "moves")
            self._world.application(node).leave()  # answers may be lost
            node.run(connector.move)

    def _close(self) -> None:
        if nodes := self._running():
            node = self._rng.choice(nodes)
            self._world.application(node).leave()
            node.close()
            self._restart(node)

    def _kill(self, *, silently: bool) -> None:
        nodes = [node for node in self._world.nodes if node.is_running]
        if nodes:
            node = self._rng.choice(nodes)
            self._world.application(node).leave()
            node.kill(silently=silently)
            self._restart(node)

    def _restart(self, node: SimulatedNode) -> None:
        self._world.journal.note(node.name, "is down")
        keeps_zid = self._rng.random() < 0.5
        delay_s = self._rng.choice((0.0, 0.5, 3.0))
        self._world.timeline.call_in(delay_s, lambda: self._world.restart(node, keeps_zid))
