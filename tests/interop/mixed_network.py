"""A network of routers with clients and peers, in which links break and routers leave.

Every link goes through a tap: what passes is recorded, and the link can be cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.interop.puppets import Kind, PuppetProcess, settings
from tests.interop.shapes import ZIDS, Edge, Graph, Shape
from tests.interop.tap import Recording, Tap
from tests.ports import free_port

_RETRY = {"period_init_ms": 100, "period_max_ms": 200, "period_increase_factor": 1.0}
_WEIGHTS = "routing/router/linkstate/transport_weights"


class MixedNetwork:
    """Routers of some kinds in a shape; a client on each, a peer on those at the ends."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        shape: Shape,
        node: Kind,
        capture: Path,
        weights: dict[Edge, int] | None = None,
    ) -> None:
        self.shape = shape
        self.weights = weights or {}
        self.nodes: dict[str, PuppetProcess] = {}
        """The nodes by name: `c1` is the client of router 1, `p0` the peer of router 0."""
        self._kinds = kinds
        self._cut: set[Edge] = set()
        self._gone: set[int] = set()
        self._stack = ExitStack()
        try:
            self._start(node, capture)
        except BaseException:
            self.close()
            raise

    def _start(self, node: Kind, capture: Path) -> None:
        shape, kinds = self.shape, self._kinds
        recording = self._stack.enter_context(Recording(capture))
        self._ports = [free_port() for _ in kinds]
        self.taps = {edge: self._tap(recording, edge[0]) for edge in shape.edges}
        doors = [self._tap(recording, number) for number in range(shape.size)]
        names = [f"c{number}" for number in range(shape.size)]
        names += [f"p{number}" for number in shape.ends]
        # Processes need longer to start than nodes to open.
        self.routers = [self._held(kind) for kind in kinds]
        self.nodes = {name: self._held(node) for name in names}
        for number in range(shape.size):
            self._open_router(number)
        for name, held in self.nodes.items():
            door = {"connect/endpoints": [f"tcp/127.0.0.1:{doors[int(name[1])].port}"]}
            mode = "client" if name[0] == "c" else "peer"
            held.open(**settings(mode, **door, **{"connect/retry": _RETRY}))

    @property
    def graph(self) -> Graph:
        """The routers and links that are there at the moment."""
        there = frozenset(range(self.shape.size)) - self._gone
        edges = [
            edge for edge in self.shape.edges if edge not in self._cut and there.issuperset(edge)
        ]
        return Graph(there, frozenset(edges), self.weights)

    def cut(self, edge: Edge) -> None:
        self._cut.add(edge)
        self.taps[edge].cut()

    def heal(self) -> None:
        for edge in self._cut:
            self.taps[edge].heal()
        self._cut.clear()

    def leave(self, number: int) -> None:
        self._gone.add(number)
        self.routers[number].kill()

    def come_back(self, number: int) -> None:
        self.routers[number] = self._held(self._kinds[number])
        self._open_router(number)
        self._gone.remove(number)

    def end(self) -> None:
        """Closes all nodes but real routers, which may send more after their CLOSE."""
        for held in (*self.nodes.values(), *self.routers):
            if held.is_ours or held not in self.routers:
                held.ask("close")

    def close(self) -> None:
        self._stack.close()

    def _tap(self, recording: Recording, number: int) -> Tap:
        return self._stack.enter_context(Tap(recording, self._ports[number]))

    def _held(self, kind: Kind) -> PuppetProcess:
        held = PuppetProcess(kind)
        self._stack.callback(held.kill)
        return held

    def _open_router(self, number: int) -> None:
        config: dict[str, Any] = {
            "id": ZIDS[number],
            "listen/endpoints": [f"tcp/127.0.0.1:{self._ports[number]}"],
            "connect/endpoints": [
                f"tcp/127.0.0.1:{tap.port}" for edge, tap in self.taps.items() if edge[1] == number
            ],
            "connect/retry": _RETRY,
        }
        # It is enough to set the weight at one end: the greater one counts.
        listed = [
            {"dst_zid": ZIDS[edge[1]], "weight": weight}
            for edge, weight in self.weights.items()
            if edge[0] == number
        ]
        if listed:
            config[_WEIGHTS] = listed
        self.routers[number].open(**settings("router", **config))

    def __enter__(self) -> MixedNetwork:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
