"""Promises: messages that must arrive, and the excuses for those that do not.

A message that a node sends over a path without recent changes must arrive, unless the path
breaks or the receiver leaves before it can arrive.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final, Protocol

from zenlake.testing.simulation.journal import InvariantError

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode
    from zenlake.testing.simulation.reach import Reach
    from zenlake.testing.simulation.wire import Wire

SETTLE_S: Final = 1.0
"""After this time every node on a path knows a declaration."""
ARRIVAL_S: Final = 1.0
"""The time in which a message arrives if it arrives at all, without pauses."""


class Party(Protocol):
    """A receiver, which may be closed."""

    closed_at: float


class NodePath:
    """The nodes between two sessions, both included, and the wires between them.

    If it leads through several routers, it includes all that are linked to each other: the routers
    choose among them.
    """

    def __init__(
        self, nodes: list[SimulatedNode], wires: list[Wire], network: Reach | None = None
    ) -> None:
        self.nodes = nodes
        self.wires = wires
        self.network = network
        self.numbers = tuple(wire.number for wire in wires)

    def ready_at(self) -> float:
        """The time from which on all its nodes know the declarations of each other."""
        if self.network is not None and not self.network.is_settled():
            return inf
        times = [wire.up_at for wire in self.wires]
        times.extend(node.resumed_at for node in self.nodes)
        return max(times, default=-inf) + SETTLE_S

    def is_up(self) -> bool:
        return all(wire.is_up for wire in self.wires)


class Promise:
    """A message sent at `made_at` by the first node of `path`, to be received by `parties`."""

    def __init__(self, what: str, made_at: float, path: NodePath, parties: list[Party]) -> None:
        self.what = what
        self.made_at = made_at
        self.path = path
        self.parties = parties
        self.is_kept = False

    def is_excused(self) -> bool:
        path = self.path
        last = self.made_at + ARRIVAL_S
        for node in path.nodes:
            last += sum(stop - start for start, stop in node.pauses if stop > self.made_at)
        origin = path.nodes[0]
        if any(party.closed_at <= last for party in self.parties):
            return True
        if any(node.stopped_at is not None and node.stopped_at <= last for node in path.nodes[1:]):
            return True
        if path.network is not None and path.network.has_changed(self.made_at, last):
            return True
        # A node that closes a wire sends everything else before.
        return any(wire.failed_at <= last and wire.closed_by is not origin for wire in path.wires)


class Promises:
    def __init__(self) -> None:
        self._open: list[Promise] = []
        self.made = 0

    def add(self, promise: Promise) -> Promise:
        self._open.append(promise)
        self.made += 1
        return promise

    def check(self) -> None:
        """Check that each promised message has arrived or is excused, when the network is idle."""
        for promise in self._open:
            if not promise.is_kept and not promise.is_excused():
                names = "-".join(node.name for node in promise.path.nodes)
                raise InvariantError(
                    f"{promise.what} at {promise.made_at:.4f} over {names} never arrived"
                )
        self._open.clear()
