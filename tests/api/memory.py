"""Sessions of the API on nodes in memory: one lock, no threads of their own, no sockets."""

from __future__ import annotations

import threading
import time
import weakref
from queue import SimpleQueue

from tests.session.network import Line
from tests.session.network import Network as Wires
from zenlake.api.session.session import Session
from zenlake.api.session.session_handle import SessionHandle
from zenlake.node.events import Events
from zenlake.node.info import LinkInfo, TransportInfo
from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.settings import RoutingSettings
from zenlake.session import SessionCore, SessionSettings, Sink
from zenlake.wire import WhatAmI, ZenohId


class MemoryNode:
    """The part of a node that a session uses (`zenlake.api.session.session_handle.NodeLike`)."""

    def __init__(self, network: MemoryNetwork, number: int, role: WhatAmI) -> None:
        self.network = network
        self.zid = ZenohId.from_int(number)
        self.role = role
        self.dispatcher = Dispatcher(self.zid, role, RoutingSettings(wall_ns=time.time_ns))
        self.events = Events()
        self.sessions: list[SessionCore] = []
        self.is_closed = False

    def add_session(self, session: SessionCore) -> None:
        self.sessions.append(session)

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.network.disconnect(self)

    def wake_timer(self) -> None:
        self.network.woken.put(True)

    def begin(self) -> None:
        self.network.begin()

    def end(self) -> None:
        self.network.end()

    end_reply = end

    def transports(self) -> list[TransportInfo]:
        return []

    def links(self) -> list[LinkInfo]:
        return []

    def stats(self) -> dict[str, int]:
        return {}


def run_timer(known: weakref.ref[MemoryNetwork], woken: SimpleQueue[bool]) -> None:
    """The timer of all nodes of a network; does not keep it alive."""
    while woken.get():
        network = known()
        if network is not None:
            network.tick()
        del network


class MemoryNetwork:
    """Nodes whose messages arrive before the operation that sent them returns."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wires = Wires()
        self.nodes: list[MemoryNode] = []
        self.lines: list[tuple[MemoryNode, MemoryNode, tuple[Line, Line]]] = []
        self.woken: SimpleQueue[bool] = SimpleQueue()
        arguments = (weakref.ref(self), self.woken)
        threading.Thread(target=run_timer, args=arguments, daemon=True).start()

    def __del__(self) -> None:
        self.woken.put(False)

    def open(
        self, role: WhatAmI = WhatAmI.PEER, settings: SessionSettings | None = None
    ) -> Session:
        """A session on a new node that is connected to all others."""
        node = MemoryNode(self, len(self.nodes) + 1, role)
        handle = SessionHandle(node, settings or SessionSettings())
        self.begin()
        for other in self.nodes:
            if not other.is_closed:
                self._connect(node, other)
        self.nodes.append(node)
        self.end()
        return Session._make(handle)

    def _connect(self, a: MemoryNode, b: MemoryNode) -> None:
        there, back = Line(self.wires), Line(self.wires)
        there.to, back.to = b, a  # type: ignore[assignment]  # None until connected
        back.face = a.dispatcher.add_face(b.zid, b.role, there, time.monotonic())
        there.face = b.dispatcher.add_face(a.zid, a.role, back, time.monotonic())
        self.lines.append((a, b, (there, back)))

    def disconnect(self, node: MemoryNode) -> None:
        """Remove a node, as if its transports were closed."""
        self.begin()
        for a, b, lines in self.lines:
            if node in (a, b):
                for line in lines:
                    line.is_cut = True
                    assert line.to is not None
                    assert line.face is not None
                    line.to.dispatcher.remove_face(line.face, time.monotonic())
        self.end()

    def begin(self) -> None:
        assert self.lock.acquire(timeout=10), "deadlock"

    def end(self) -> None:
        self.wires.now = time.monotonic()
        self.wires.pump()
        sinks: list[Sink] = []
        for node in self.nodes:
            for session in node.sessions:
                sinks += session.pop_touched()
        self.lock.release()
        for sink in sinks:
            sink.after_unlock()

    def tick(self, seconds_ahead: float = 0.0) -> None:
        """Run the timers of the nodes."""
        self.begin()
        now = time.monotonic() + seconds_ahead
        for node in self.nodes:
            node.dispatcher.handle_timeout(now)
            for session in node.sessions:
                session.handle_timeout(now)
        self.end()
