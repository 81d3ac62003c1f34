"""Several routers or linkstate peers in one process: dispatchers whose links deliver in order.

web = Web("a", "b")
web.link("a", "b")
web.enters("c1", "client", "a")
web.says("c1", subscriber(1, "k"))
web.hears("c1", "PUT x k")
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Any

from tests.routing.playbook import ROLES, Ear, text_of, zid_of
from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.outlet import Outlet
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import UNLIMITED
from zenlake.wire import NetworkMessage, decode, encode

MESSAGES_MAX = 100_000
"""More than any test needs: beyond it messages go round in circles."""


class Wire(Outlet):
    """One direction of a link between two routers."""

    def __init__(self) -> None:
        self.messages: deque[tuple[NetworkMessage, bool]] = deque()
        self.log: list[str] = []

    def send(self, message: NetworkMessage, key: str, reliable: bool) -> None:
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
        """Links that swallow everything; neither side knows yet."""

        self.ears: dict[str, Ear] = {}
        self.faces: dict[str, tuple[str, Face]] = {}
        for name in names:
            self.starts(name)

    def wall_ns(self) -> int:
        """Each router has a life of its own, so that all of them know how to ask again."""
        return 1_000_000 * len(self.routers) + 1_000_000_000 * (1 + int(self.now))

    def starts(self, name: str, role: str = "router") -> None:
        zid = zid_of(name)
        settings = RoutingSettings(**self.settings)
        self.roles[name] = role
        self.routers[name] = Dispatcher(zid, ROLES[role], settings)

    def link(self, *names: str) -> None:
        """Each one with the next."""
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
        """From now on nothing arrives on a link."""
        self.dead |= {(one, other), (other, one)}

    def stops(self, name: str) -> None:
        """A router dies, and with it all that is attached to it."""
        for one, other in [pair for pair in self.wires if pair[0] == name]:
            self.unlink(one, other)
        for face in [face for face, (router, _) in self.faces.items() if router == name]:
            del self.faces[face]
            del self.ears[face]
        del self.routers[name]

    def enters(self, name: str, role: str, router: str) -> None:
        ear = Ear(not role)
        self.ears[name] = ear
        dispatcher = self.routers[router]
        if role:
            face = dispatcher.add_face(zid_of(name), ROLES[role], ear, self.now)
        else:
            face = dispatcher.add_local(ear)
        self.faces[name] = (router, face)
        self.settle()

    def leaves(self, name: str) -> None:
        router, face = self.faces.pop(name)
        del self.ears[name]
        self.routers[router].remove_face(face, self.now, self.slice_steps)
        self.settle()

    def says(self, name: str, *messages: NetworkMessage) -> None:
        router, face = self.faces[name]
        for message in messages:
            self._receive(router, face, message, True)
        self.settle()

    def say_at_once(self, said: dict[str, NetworkMessage]) -> None:
        """Several faces send a message before any router has forwarded one."""
        for name, message in said.items():
            router, face = self.faces[name]
            self._receive(router, face, message, True)
        self.settle()

    def _receive(self, router: str, face: Face, message: NetworkMessage, reliable: bool) -> None:
        dispatcher = self.routers[router]
        start = 0
        while start < 1:
            start = dispatcher.receive_run(
                face, [message], 0, 1, reliable, self.now, self.slice_steps
            )
            self._work(router, face)

    def _work(self, router: str, face: Face | None = None) -> None:
        dispatcher = self.routers[router]
        while face is not None and face.job is not None:
            dispatcher.resume(face, self.slice_steps)
        while dispatcher.has_jobs:
            dispatcher.run_jobs(self.slice_steps)

    def settle(self) -> None:
        """Deliver everything, and let as much time pass as the trees take."""
        for _ in range(20):
            self._deliver()
            self.passes(0.1)
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
        raise AssertionError("messages go round in circles")

    def passes(self, seconds: float) -> None:
        self.now += seconds
        for name, dispatcher in self.routers.items():
            deadline = dispatcher.next_deadline()
            if deadline is not None and deadline <= self.now:
                dispatcher.handle_timeout(self.now)
            self._work(name)

    def hears(self, name: str, *lines: str) -> None:
        """Exactly this was sent to a face since the last look."""
        ear = self.ears[name]
        heard = [text_of(message, key, True) for message, key, _ in ear.messages]
        heard = [line for line in heard if not line.startswith(("D_KEYEXPR", "OAM"))]
        ear.messages.clear()
        assert heard == list(lines), heard

    def takes(self, name: str) -> list[NetworkMessage]:
        ear = self.ears[name]
        messages = [message for message, _, _ in ear.messages]
        ear.messages.clear()
        return messages

    def sent(self, one: str, other: str) -> list[str]:
        """What one router sent to another since the last look, without link states."""
        wire = self.wires[one, other]
        lines = [line for line in wire.log if not line.startswith(("OAM", "D_KEYEXPR"))]
        wire.log.clear()
        return lines

    def forget(self) -> None:
        for ear in self.ears.values():
            ear.messages.clear()
        for wire in self.wires.values():
            wire.log.clear()


def decode_again(message: NetworkMessage) -> NetworkMessage:
    """As the other side reads it: no object is shared."""
    again = decode(encode(message), "network")
    assert isinstance(again, NetworkMessage)
    return again
