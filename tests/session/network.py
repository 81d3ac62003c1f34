"""Nodes in one process: each a Dispatcher with a SessionCore, joined by lines of bytes."""

from __future__ import annotations

from collections import deque
from typing import Any

from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.outlet import Outlet
from zenlake.routing.settings import RoutingSettings
from zenlake.session import Locality, SessionCore, SessionSettings, Sink
from zenlake.session.queries import QuerySpec
from zenlake.testing.simulation.items import FACTORY, Ok, ReceivedQuery, Sample
from zenlake.wire import NetworkMessage, Put, QoS, WhatAmI, ZenohId, decode, encode

QUERY_QOS = QoS(13)
ANY = Locality.ANY
NOW = 100.0
WALL_NS = 1_700_000_000_000_000_000


class ListSink(Sink):
    """Keeps its items."""

    def __init__(self) -> None:
        self.items: list[object] = []
        self.is_closed = False

    def push(self, item: object) -> None:
        assert not self.is_closed
        self.items.append(item)

    def close(self) -> None:
        self.is_closed = True

    def pop_items(self) -> list[object]:
        items, self.items = self.items, []
        return items

    @property
    def samples(self) -> list[tuple[str, bytes | None]]:
        """Key and payload (None for a deletion) of samples or ok replies."""
        found: list[tuple[str, bytes | None]] = []
        for item in self.items:
            assert isinstance(item, Sample | Ok)
            body = item.body
            found.append((item.key, body.payload if isinstance(body, Put) else None))
        return found

    @property
    def queries(self) -> list[ReceivedQuery]:
        return [item for item in self.items if isinstance(item, ReceivedQuery)]


class Line(Outlet):
    """One direction of a link; `pump` delivers its messages."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.to: Node | None = None
        self.face: Face | None = None
        self.log: list[NetworkMessage] = []
        self.is_cut = False

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        if not self.is_cut:
            self.log.append(message)
            self.network.queue.append((self, encode(message), reliable))


class Node:
    """One Dispatcher with one session."""

    def __init__(
        self, number: int, role: WhatAmI, settings: SessionSettings, timestamping: bool
    ) -> None:
        self.zid = ZenohId.from_int(number)
        self.role = role
        self.wall_ns = WALL_NS
        routing = RoutingSettings(timestamping=timestamping, wall_ns=self.now_ns)
        self.dispatcher = Dispatcher(self.zid, role, routing)
        self.reports: list[str] = []
        self.core = SessionCore(
            self.zid, self.dispatcher, FACTORY, self.now_ns, settings, self.reports.append
        )

    def now_ns(self) -> int:
        self.wall_ns += 1_000
        return self.wall_ns

    def after_unlock(self) -> None:
        for sink in self.core.pop_touched():
            sink.after_unlock()


class Network:
    """All nodes, with a clock that only tests advance."""

    def __init__(self) -> None:
        self.now = NOW
        self.queue: deque[tuple[Line, bytes, bool]] = deque()
        self.nodes: list[Node] = []

    def add(
        self,
        role: WhatAmI = WhatAmI.PEER,
        settings: SessionSettings | None = None,
        timestamping: bool = False,
    ) -> Node:
        settings = settings or SessionSettings()
        node = Node(len(self.nodes) + 1, role, settings, timestamping)
        self.nodes.append(node)
        return node

    def connect(self, a: Node, b: Node) -> tuple[Line, Line]:
        """The lines from `a` to `b` and back."""
        there, back = Line(self), Line(self)
        there.to, back.to = b, a
        back.face = a.dispatcher.add_face(b.zid, b.role, there, self.now)
        there.face = b.dispatcher.add_face(a.zid, a.role, back, self.now)
        self.pump()
        return there, back

    def cut(self, lines: tuple[Line, Line]) -> None:
        self.pump()
        for line in lines:
            line.is_cut = True
            assert line.to is not None
            assert line.face is not None
            line.to.dispatcher.remove_face(line.face, self.now)
        self.pump()

    def pump(self) -> None:
        """Deliver messages until none is left."""
        while self.queue:
            line, data, reliable = self.queue.popleft()
            message = decode(data, "network")
            assert isinstance(message, NetworkMessage)
            assert line.to is not None
            assert line.face is not None
            if not line.is_cut:
                line.to.dispatcher.receive(line.face, message, reliable, self.now)
        for node in self.nodes:
            node.after_unlock()

    def wait(self, seconds: float) -> None:
        self.now += seconds
        for node in self.nodes:
            node.dispatcher.handle_timeout(self.now)
            node.core.handle_timeout(self.now)
        self.pump()


def two_nodes(
    a: WhatAmI = WhatAmI.PEER, b: WhatAmI = WhatAmI.PEER, settings: SessionSettings | None = None
) -> tuple[Network, Node, Node, tuple[Line, Line]]:
    """Two connected nodes and the lines between them; `settings` are those of the first."""
    network = Network()
    one, two = network.add(a, settings), network.add(b)
    return network, one, two, network.connect(one, two)


def pair(
    a: WhatAmI = WhatAmI.PEER, b: WhatAmI = WhatAmI.PEER
) -> tuple[Network, SessionCore, SessionCore]:
    """Two connected nodes: the network and their sessions."""
    network, one, two, _ = two_nodes(a, b)
    return network, one.core, two.core


def subscribe(core: SessionCore, key: str, origin: Locality = ANY) -> ListSink:
    """Declare a subscriber; returns its sink."""
    sink = ListSink()
    core.declare_subscriber(key, sink, origin, NOW)
    return sink


def serve(core: SessionCore, key: str, complete: bool = False, origin: Locality = ANY) -> ListSink:
    """Declare a queryable; returns its sink."""
    sink = ListSink()
    core.declare_queryable(key, sink, complete, origin, NOW)
    return sink


def get(
    core: SessionCore, key: str, spec: QuerySpec | None = None, parameters: str = ""
) -> ListSink:
    """Send a query; returns the sink of its replies."""
    sink = ListSink()
    core.get(key, parameters, spec or query_spec(), sink, NOW)
    return sink


def put(core: SessionCore, key: str, payload: bytes = b"", now: float = NOW) -> None:
    core.put(core.publications.prepare(key, QoS(5), True, ANY, None), Put(payload), None, now)


def query_spec(timeout_ms: int = 10_000, **options: Any) -> QuerySpec:
    return QuerySpec(QUERY_QOS, timeout_ms, **options)
