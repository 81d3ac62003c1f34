"""Wire: one connection between two nodes, over a network that the seed controls.

A stream delivers its bytes in order, divided anywhere, or not at all. A datagram link may lose,
duplicate and reorder. Both have delays, and send one unit after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from random import Random
from typing import TYPE_CHECKING

from zenlake.testing.simulation.journal import Journal
from zenlake.testing.simulation.plan import Plan
from zenlake.testing.simulation.timeline import Timeline
from zenlake.testing.simulation.unit_check import UnitCheck
from zenlake.wire import WhatAmI

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode
    from zenlake.testing.simulation.wire_end import WireEnd


class _Direction:
    """The times at which its sender is free again and its last byte arrives."""

    def __init__(self) -> None:
        self.free_at = 0.0
        self.last_arrival = 0.0


class Wire:
    """A connection: two ends, `opener` and `acceptor`, and the network between them."""

    def __init__(
        self, number: int, plan: Plan, timeline: Timeline, rng: Random, journal: Journal
    ) -> None:
        self.number = number
        self.is_stream = plan.is_stream
        self._plan = plan
        self._timeline = timeline
        self._rng = rng
        self._journal = journal
        self.ends: list[WireEnd] = []
        self._directions = (_Direction(), _Direction())
        self.check: UnitCheck | None = None
        self.is_silent = False
        """Whether bytes are lost without notice to the ends."""
        self.up_at = inf
        """When both sides had opened their session."""
        self.failed_at = inf
        """When it was cut, ended on one side, or lost data: later messages need not arrive."""
        self.closed_by: SimulatedNode | None = None
        """The node that closed it in good order, if one did."""

    @property
    def is_up(self) -> bool:
        return self.up_at <= self._timeline.now < self.failed_at

    def is_between_routers(self) -> bool:
        return all(end.node.role == WhatAmI.ROUTER for end in self.ends)

    def fail(self) -> None:
        if self.failed_at == inf:
            self.failed_at = self._timeline.now
            self.note_change()

    def note_change(self) -> None:
        """Note that a session over it began or ended, on one side or on both."""
        world = self.ends[0].node.world
        world.changed_at = self._timeline.now
        roles = {end.node.role for end in self.ends}
        if WhatAmI.ROUTER in roles and WhatAmI.CLIENT not in roles:
            world.reach.note_change()

    def other(self, end: WireEnd) -> WireEnd:
        return self.ends[1 - end.side]

    def free_at(self, side: int) -> float:
        return self._directions[side].free_at

    def send(self, end: WireEnd, data: bytes) -> None:
        """Send one unit; the sender is busy with it for a while."""
        way = self._directions[end.side]
        now = self._timeline.now
        way.free_at = max(now, way.free_at) + len(data) / self._plan.bytes_per_s
        to = self.other(end)
        if self.is_stream:
            for piece in self._cut(data):
                self._deliver_in_order(way, to, piece)
        else:
            self._send_datagram(way, to, data)

    def hang_up(self, end: WireEnd) -> None:
        """Close the side of `end`; on a stream, but not with datagrams, the other is notified."""
        self.fail()
        if self.is_stream:
            self._deliver_in_order(self._directions[end.side], self.other(end), b"")

    def cut(self, *, silently: bool) -> None:
        """Cut by the network: data in transit is lost."""
        self.fail()
        self.is_silent = True
        if not silently and self.is_stream:
            for end in self.ends:
                self._timeline.call_in(self._delay(), end.arrived_end)

    def _delay(self) -> float:
        return self._plan.delay_s + self._rng.random() * self._plan.jitter_s

    def _cut(self, data: bytes) -> list[bytes]:
        if len(data) < 2 or self._rng.random() < 0.8:
            return [data]
        at = self._rng.randrange(1, len(data))
        return [data[:at], data[at:]]

    def _deliver_in_order(self, way: _Direction, to: WireEnd, data: bytes) -> None:
        arrival = max(max(self._timeline.now, way.free_at) + self._delay(), way.last_arrival)
        way.last_arrival = arrival
        self._call_at(arrival, to, data)

    def _send_datagram(self, way: _Direction, to: WireEnd, data: bytes) -> None:
        plan, rng = self._plan, self._rng
        arrival = max(self._timeline.now, way.free_at) + self._delay()
        if rng.random() < plan.loss:
            self._journal.count("datagrams lost")
            self._journal.note("wire", "%s: a datagram to %s is lost", self.number, to)
            self.fail()
            return
        if rng.random() < plan.reordering:
            self._journal.count("datagrams overtaken")
            self.fail()
            self._call_at(arrival + rng.random() * 0.1, to, data)
            return
        way.last_arrival = arrival = max(arrival, way.last_arrival)
        self._call_at(arrival, to, data)
        if rng.random() < plan.duplication:
            self._journal.count("datagrams doubled")
            self._call_at(arrival + rng.random() * 0.1, to, data)

    def _call_at(self, at: float, to: WireEnd, data: bytes) -> None:
        self._timeline.call_at(at, self._arrival(to, data))

    def _arrival(self, to: WireEnd, data: bytes) -> Callable[[], None]:
        def arrive() -> None:
            if self.is_silent:
                return
            if data:
                to.arrived(data)
            else:
                to.arrived_end()

        return arrive
