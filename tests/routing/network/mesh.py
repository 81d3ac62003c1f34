"""Networks of link-state nodes for tests: links that deliver in order, each at its own pace."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from random import Random
from typing import Any

from zenlake.routing.counters import Counters
from zenlake.routing.face import Face
from zenlake.routing.memory import Account, MemoryBudget
from zenlake.routing.network.network import Network
from zenlake.routing.outlet import Outlet
from zenlake.routing.region import EQUAL, Region
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import UNLIMITED, Job, Work
from zenlake.wire import (
    LinkState,
    LinkStateList,
    NetworkMessage,
    Oam,
    WhatAmI,
    ZenohId,
    decode,
    decode_link_states,
    encode,
)

STEPS_MAX = 1_000_000


def link_states(*states: LinkState) -> Oam:
    return Oam(1, body=bytes(LinkStateList(states)))


def state(psid: int, sn: int, *links: int, zid: str | None = None, **more: Any) -> LinkState:
    return LinkState(psid, sn, links, zid=None if zid is None else ZenohId.parse(zid), **more)


class Pipe(Outlet):
    """Queues the messages sent to a face until they are delivered."""

    def __init__(self) -> None:
        self.messages: deque[Oam] = deque()

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        assert isinstance(message, Oam)
        assert decode(encode(message), "network") == message
        self.messages.append(message)

    def texts(self) -> list[str]:
        """Remove all messages and describe each in one line."""
        texts = [text_of(message) for message in self.messages]
        self.messages.clear()
        return texts


class Router:
    """A `Network` with the parts of a dispatcher that it needs."""

    def __init__(self, zid: str, role: WhatAmI = WhatAmI.ROUTER, **settings: Any) -> None:
        self.zid = ZenohId.parse(zid)
        self.work = Work()
        self.counters = Counters()
        self.budget = MemoryBudget()
        self.region = Region("north", relays=True, is_north=True)
        routing = RoutingSettings(**settings)
        self.network = Network(
            self.zid, role, routing, self.counters, self.work, routing.link_weights
        )
        self.gained: list[tuple[str, str]] = []
        """Roots, and the children that their trees gained."""

    def face(self, zid: str) -> tuple[Face, Pipe]:
        """A neighbour that is not linked yet."""
        pipe = Pipe()
        account = Account(self.budget)
        face = Face(ZenohId.parse(zid), WhatAmI.ROUTER, self.region, EQUAL, pipe, account)
        return face, pipe

    def neighbour(self, zid: str) -> tuple[Face, Pipe]:
        """A neighbour that is linked, at time 0."""
        face, pipe = self.face(zid)
        self.network.flooding.add_link(face, 0.0)
        return face, pipe

    def linked(self, *zids: str) -> list[tuple[Face, Pipe]]:
        """Neighbours that have announced themselves and their links with this router."""
        found = [self.neighbour(zid) for zid in zids]
        for face, _ in found:
            self.receive_link_of(face)
        for _, pipe in found:
            pipe.texts()
        return found

    def receive_states(
        self, face: Face, *states: LinkState, at: float = 0.0, steps: int = UNLIMITED
    ) -> int:
        """Process a list of link states to its end; return the number of slices."""
        return self.receive(face, link_states(*states), at, steps)

    def receive_link_of(self, face: Face) -> None:
        """A neighbour announces itself and its link with this router."""
        own, neighbour = str(self.zid), str(face.zid)
        self.receive_states(face, state(0, 2, 1, zid=neighbour), state(1, 2, 0, zid=own))

    def receive(self, face: Face, message: Oam, now: float, steps: int = UNLIMITED) -> int:
        """Process a message to its end; return the number of slices."""
        return self.finish(self.network.flooding.receive(face, message, now), steps)

    def finish(self, job: Job, steps: int = UNLIMITED) -> int:
        slices = 1
        self.work.steps = steps
        for _ in job:
            slices += 1
            self.work.steps = steps
            assert slices < STEPS_MAX
        return slices

    def compute(self, now: float, steps: int = UNLIMITED) -> int:
        """Compute the trees that are due; return the number of slices."""
        return self.finish(self._compute(now), steps)

    def _compute(self, now: float) -> Job:
        if self.network.handle_timeout(now):
            for root in self.network.stale_roots():
                faces = yield from self.network.update_tree(root)
                self.gained += [(str(root), str(face.zid)) for face in faces]

    def edges(self) -> dict[tuple[str, str], float]:
        """The graph as this node knows it."""
        return {
            (str(node.zid), str(other.zid)): weight
            for node in self.network.graph.nodes.values()
            for other, weight in node.edges.items()
        }

    def names(self) -> set[str]:
        return {str(zid) for zid in self.network.graph.nodes}

    def children(self, root: str) -> list[str]:
        return [str(face.zid) for face in self.network.children(ZenohId.parse(root))]

    def next_hop(self, root: str, target: str) -> str | None:
        face = self.network.next_hop(ZenohId.parse(root), ZenohId.parse(target))
        return None if face is None else str(face.zid)


class Connection:
    """A session of two routers, with messages under way in both directions."""

    def __init__(self, one: Router, other: Router) -> None:
        self.ends = (one, other)
        to_other, one_pipe = one.face(str(other.zid))
        to_one, other_pipe = other.face(str(one.zid))
        self.faces = (to_other, to_one)
        self.pipes = (one_pipe, other_pipe)

    def deliver(self, sender: int, now: float) -> bool:
        """Deliver the next message of one end; False if there is none."""
        pipe = self.pipes[sender]
        if not pipe.messages:
            return False
        receiver = 1 - sender
        self.ends[receiver].receive(self.faces[receiver], pipe.messages.popleft(), now)
        return True


class Mesh:
    def __init__(self, seed: int = 0) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self.routers: dict[str, Router] = {}
        self.connections: dict[tuple[str, str], Connection] = {}

    def starts(self, *names: str, **settings: Any) -> None:
        for name in names:
            self.routers[name] = Router(name, **settings)

    def links(self, one: str, other: str) -> None:
        connection = Connection(self.routers[one], self.routers[other])
        self.connections[pair(one, other)] = connection
        for end, face in zip(connection.ends, connection.faces, strict=True):
            end.network.flooding.add_link(face, self.now)

    def unlinks(self, one: str, other: str) -> None:
        """Close a link: both ends notice, undelivered messages are lost."""
        connection = self.connections.pop(pair(one, other))
        for end, face in zip(connection.ends, connection.faces, strict=True):
            face.is_gone = True
            end.network.flooding.remove_link(face, self.now)
            face.account.close()

    def stops(self, name: str) -> None:
        """A router is killed: its neighbours notice."""
        for one, other in list(self.connections):
            if name in (one, other):
                self.unlinks(one, other)
        del self.routers[name]

    def line(self, *names: str) -> None:
        for one, other in pairwise(names):
            self.links(one, other)

    def deliver_some(self, count: int) -> None:
        """Deliver messages of links chosen at random."""
        for _ in range(count):
            if not self.connections:
                return
            connection = self.random.choice(list(self.connections.values()))
            connection.deliver(self.random.randrange(2), self.now)

    def settles(self) -> None:
        """Deliver all messages and compute all trees."""
        delivered = 0
        while True:
            busy = [
                (connection, sender)
                for connection in self.connections.values()
                for sender in range(2)
                if connection.pipes[sender].messages
            ]
            if not busy:
                break
            connection, sender = self.random.choice(busy)
            connection.deliver(sender, self.now)
            delivered += 1
            assert delivered < STEPS_MAX, "the network never comes to rest"
        self.time_passes(1.0)

    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        for router in self.routers.values():
            router.compute(self.now)


def settled_line(*names: str) -> Mesh:
    """Routers, each linked with the next, that know each other."""
    mesh = Mesh()
    mesh.starts(*names)
    mesh.line(*names)
    mesh.settles()
    return mesh


def pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def text_of(message: Oam) -> str:
    """`1=b2 sn 2 links 0:7,2`: psid, id, version, neighbours with the weights that are set."""
    assert isinstance(message.body, bytes)
    states = []
    for state in decode_link_states(message.body).link_states:
        name = "" if state.zid is None else f"={state.zid}"
        where = "" if state.locators is None else f" at {','.join(state.locators)}"
        weights = state.weights or (0,) * len(state.links)
        links = ",".join(
            f"{psid}:{weight}" if weight else f"{psid}"
            for psid, weight in zip(state.links, weights, strict=True)
        )
        role = "" if state.whatami == WhatAmI.ROUTER else f" {state.whatami}"
        mark = " gateway" if state.gateway else ""
        text = f"{state.psid}{name} sn {state.sn}{role}{mark}{where}"
        states.append(text + (f" links {links}" if links else ""))
    return "; ".join(states)
