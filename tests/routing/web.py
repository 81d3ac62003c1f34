"""Several routers or linkstate peers in one process: dispatchers whose links deliver in order.

web = Web("a", "b")
web.link("a", "b")
web.connects("c1", "client", "a")
web.sends("c1", subscriber(1, "k"))
web.receives("c1", "PUT x k")
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Any

from tests.routing.playbook import (
    ROLES,
    RecordingOutlet,
    handle_timeout,
    receive,
    text_of,
    zid_of,
)
from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.outlet import Outlet
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import UNLIMITED
from zenlake.wire import NetworkMessage, decode, encode

MESSAGES_MAX = 100_000
"""A number of messages that no test needs: more are forwarded in a loop."""


class Wire(Outlet):
    """One direction of a link between two routers."""

    def __init__(self) -> None:
        self.messages: deque[tuple[NetworkMessage, bool]] = deque()
        self.log: list[str] = []

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        assert decode(encode(message), "network") == message
        self.messages.append((message, reliable))
        node_id = getattr(message, "node_id", None)
        self.log.append(text_of(message, key, True) + (f" of {node_id}" if node_id else ""))


class Web:
    def __init__(self, *names: str, **settings: Any) -> None:
        self.settings = {"wall_ns": self.wall_ns} | settings
        self.slice_steps = UNLIMITED
        self.now = 0.0
        self.routers: dict[str, Dispatcher] = {}
        self.roles: dict[str, str] = {}
        self.wires: dict[tuple[str, str], Wire] = {}
        self.link_faces: dict[tuple[str, str], Face] = {}
        self.dead: set[tuple[str, str]] = set()
        """Links that lose everything, which neither side has noticed."""

        self.outlets: dict[str, RecordingOutlet] = {}
        self.faces: dict[str, tuple[str, Face]] = {}
        for name in names:
            self.starts(name)

    def wall_ns(self) -> int:
        """Each router has its own start time; with 0 it would count as a deployed node."""
        return 1_000_000 * len(self.routers) + 1_000_000_000 * (1 + int(self.now))

    def starts(self, name: str, role: str = "router") -> None:
        zid = zid_of(name)
        settings = RoutingSettings(**self.settings)
        self.roles[name] = role
        self.routers[name] = Dispatcher(zid, ROLES[role], settings)

    def link(self, *names: str) -> None:
        """Link each router with the next."""
        for one, other in pairwise(names):
            for here, there in ((one, other), (other, one)):
                wire = Wire()
                self.wires[here, there] = wire
                self.link_faces[here, there] = self.routers[here].add_face(
                    zid_of(there), ROLES[self.roles[there]], wire, self.now, steps=self.slice_steps
                )
        self.settle()

    def unlink(self, one: str, other: str) -> None:
        for here, there in ((one, other), (other, one)):
            del self.wires[here, there]
            self.dead.discard((here, there))
            face = self.link_faces.pop((here, there))
            self.routers[here].remove_face(face, self.now, self.slice_steps)
        self.settle()

    def loses(self, one: str, other: str) -> None:
        """Lose all later messages of a link."""
        self.dead |= {(one, other), (other, one)}

    def stops(self, name: str) -> None:
        """Remove a router and the nodes attached to it."""
        for one, other in [pair for pair in self.wires if pair[0] == name]:
            self.unlink(one, other)
        for face in [face for face, (router, _) in self.faces.items() if router == name]:
            del self.faces[face]
            del self.outlets[face]
        del self.routers[name]

    def connects(self, name: str, role: str, router: str) -> None:
        outlet = RecordingOutlet(not role)
        self.outlets[name] = outlet
        dispatcher = self.routers[router]
        if role:
            face = dispatcher.add_face(zid_of(name), ROLES[role], outlet, self.now)
        else:
            face = dispatcher.add_local(outlet)
        self.faces[name] = (router, face)
        self.settle()

    def disconnects(self, name: str) -> None:
        router, face = self.faces.pop(name)
        del self.outlets[name]
        self.routers[router].remove_face(face, self.now, self.slice_steps)
        self.settle()

    def sends(self, name: str, *messages: NetworkMessage) -> None:
        router, face = self.faces[name]
        for message in messages:
            self._receive(router, face, message, True)
        self.settle()

    def send_at_once(self, messages: dict[str, NetworkMessage]) -> None:
        """Several faces send a message before any router has forwarded one."""
        for name, message in messages.items():
            router, face = self.faces[name]
            self._receive(router, face, message, True)
        self.settle()

    def _receive(self, router: str, face: Face, message: NetworkMessage, reliable: bool) -> None:
        receive(self.routers[router], face, [message], reliable, self.now, self.slice_steps)

    def settle(self) -> None:
        """Deliver all messages, and let enough time pass to compute the trees."""
        for _ in range(20):
            self._deliver()
            self.time_passes(0.1)
            if not any(wire.messages for wire in self.wires.values()):
                return
        raise AssertionError("the routers never come to rest")

    def _deliver(self) -> None:
        for _ in range(MESSAGES_MAX):
            ready = [pair for pair, wire in self.wires.items() if wire.messages]
            if not ready:
                return
            for here, there in ready:
                wire = self.wires[here, there]
                message, reliable = wire.messages.popleft()
                if (here, there) in self.dead:
                    continue
                face = self.link_faces[there, here]
                self._receive(there, face, decode_again(message), reliable)
        raise AssertionError("messages are forwarded in a loop")

    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        for dispatcher in self.routers.values():
            handle_timeout(dispatcher, self.now, self.slice_steps)

    def receives(self, name: str, *lines: str) -> None:
        """Assert that a face received exactly these messages since the last call."""
        outlet = self.outlets[name]
        received = [text_of(message, key, True) for message, key, _ in outlet.messages]
        received = [line for line in received if not line.startswith(("D_KEYEXPR", "OAM"))]
        outlet.messages.clear()
        assert received == list(lines), received

    def received(self, name: str) -> list[NetworkMessage]:
        return self.outlets[name].pop()

    def sent(self, one: str, other: str) -> list[str]:
        """The messages from one router to another since the last call, without link states."""
        wire = self.wires[one, other]
        lines = [line for line in wire.log if not line.startswith(("OAM", "D_KEYEXPR"))]
        wire.log.clear()
        return lines

    def clear_received(self) -> None:
        for outlet in self.outlets.values():
            outlet.messages.clear()
        for wire in self.wires.values():
            wire.log.clear()


def web_of(*links: str, peers: str = "", **settings: Any) -> Web:
    """Routers by letters (peers: those in `peers`), and a client on each: `c` and its letter.

    `web_of("abc", "ca")` is a triangle.
    """
    web = Web(gossip=False, linkstate_peers=bool(peers), **settings)
    for name in sorted(set("".join(links))):
        web.starts(name, "peer" if name in peers else "router")
    for link in links:
        web.link(*link)
    for name in web.routers:
        web.connects("c" + name, "client", name)
    web.clear_received()
    return web


def decode_again(message: NetworkMessage) -> NetworkMessage:
    """A copy by way of the wire: no object is shared."""
    again = decode(encode(message), "network")
    assert isinstance(again, NetworkMessage)
    return again
