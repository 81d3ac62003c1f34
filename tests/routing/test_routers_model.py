"""Random networks of routers, compared with a model that only knows the connections.

From fixed seeds (ZENLAKE_SEED for another). After every step the network comes to rest; then a
publication must reach exactly the subscribers that can be reached, once each, a query exactly
the matching queryables, and every node with an interest must know all declarations.
"""

from __future__ import annotations

import os
import random
from itertools import combinations

import pytest

from tests.routing.playbook import (
    interest,
    no_queryable,
    no_subscriber,
    no_token,
    put,
    queryable,
    request,
    response_final,
    subscriber,
    token,
)
from tests.routing.web import Web
from zenlake.keyexpr.matching import intersects
from zenlake.routing.declarations.entity import KINDS
from zenlake.routing.network.neighbour_reports import PATIENCE_S
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Push,
    QueryTarget,
    Request,
    ResponseFinal,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)

KEYS = ["a", "a/b", "a/*", "**", "*/b"]
ROUTERS = "wxyz"
SUB, QBL, TOK = KINDS


class Node:
    """A client, a peer or an application on a router."""

    def __init__(self, name: str, role: str, router: str) -> None:
        self.name = name
        self.role = role
        self.router = router
        self.has: list[dict[int, str]] = [{}, {}, {}]
        self.announced: list[dict[int, str]] = [{}, {}, {}]
        self.next_id = 1
        self.asks_all = False
        self.pushed: list[str] = []
        self.requests: list[int] = []
        self.ended: list[int] = []


class RandomNetwork:
    """Random events in a network of routers, compared with a model of the rules."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.web = Web(*ROUTERS, gossip=False)
        self.links: set[tuple[str, str]] = set()
        self.nodes: dict[str, Node] = {}
        self.count = 0

    def run(self, steps: int) -> None:
        actions = [self.link, self.unlink, self.restart, self.connect, self.disconnect, self.ask]
        actions += [self.link, self.connect, *[self.declare, self.undeclare] * 3]
        actions += [self.publish_any, self.query] * 4
        for _ in range(steps):
            links = set(self.links)
            self.chance.choice(actions)()
            self.listen()
            if links != self.links:
                for name in sorted(self.nodes):
                    self.publish(self.nodes[name], "a/b")
            self.all_know_what_they_asked_for()
        self.all_leave()

    # Random events.

    def link(self) -> None:
        absent = [pair for pair in combinations(ROUTERS, 2) if pair not in self.links]
        if absent:
            pair = self.chance.choice(absent)
            print("link", pair)
            self.links.add(pair)
            self.web.link(*pair)

    def unlink(self) -> None:
        if self.links:
            pair = self.chance.choice(sorted(self.links))
            print("unlink", pair)
            self.links.remove(pair)
            self.web.unlink(*pair)

    def restart(self) -> None:
        name = self.chance.choice(ROUTERS)
        print("restart", name)
        old = {pair for pair in self.links if name in pair}
        self.links -= old
        self.web.stops(name)
        self.nodes = {key: one for key, one in self.nodes.items() if one.router != name}
        self.web.starts(name)
        for pair in sorted(old):
            if self.chance.random() < 0.7:
                self.links.add(pair)
                self.web.link(*pair)

    def connect(self) -> None:
        if len(self.nodes) < 10:
            self.count += 1
            role = self.chance.choice(["client", "client", "peer", ""])
            node = Node(f"n{self.count}", role, self.chance.choice(ROUTERS))
            print("enters", node.name, role or "application", node.router)
            self.nodes[node.name] = node
            self.web.connects(node.name, role, node.router)

    def disconnect(self) -> None:
        node = self.pick()
        if node is not None and self.chance.random() < 0.5:
            print("leaves", node.name)
            del self.nodes[node.name]
            self.web.disconnects(node.name)

    def pick(self) -> Node | None:
        return self.nodes[self.chance.choice(sorted(self.nodes))] if self.nodes else None

    def declare(self) -> None:
        node = self.pick()
        if node is not None:
            kind = self.chance.choice(KINDS)
            key = self.chance.choice(KEYS)
            id = node.next_id
            node.next_id += 1
            node.has[kind][id] = key
            print(node.name, "declares", kind, key)
            self.web.sends(node.name, (subscriber, queryable, token)[kind](id, key))

    def undeclare(self) -> None:
        node = self.pick()
        kind = self.chance.choice(KINDS)
        if node is not None and node.has[kind]:
            id = self.chance.choice(sorted(node.has[kind]))
            print(node.name, "undeclares", kind, node.has[kind].pop(id))
            self.web.sends(node.name, (no_subscriber, no_queryable, no_token)[kind](id))

    def ask(self) -> None:
        node = self.pick()
        if node is not None and not node.asks_all:
            print(node.name, "asks")
            node.asks_all = True
            self.web.sends(node.name, interest(1, "current_future", "SQT"))

    def publish_any(self) -> None:
        node = self.pick()
        if node is not None:
            self.publish(node, self.chance.choice(KEYS))

    def publish(self, node: Node, key: str) -> None:
        print(node.name, "publishes", key)
        self.web.sends(node.name, put(key))
        self.listen()
        got = {one.name: one.pushed for one in self.nodes.values() if one.pushed}
        assert got == {name: [key] for name in self.receivers(SUB, node, key)}
        for one in self.nodes.values():
            one.pushed = []

    def query(self) -> None:
        node = self.pick()
        if node is None:
            return
        key = self.chance.choice(KEYS)
        print(node.name, "queries", key)
        self.web.sends(node.name, request(1, key, QueryTarget.ALL))
        self.listen()
        asked = {one.name for one in self.nodes.values() if one.requests}
        assert asked == self.receivers(QBL, node, key)
        for name in sorted(asked):
            assert node.ended == []
            (id,) = self.nodes[name].requests
            self.nodes[name].requests = []
            self.web.sends(name, response_final(id))
            self.listen()
        assert node.ended == [1]
        node.ended = []

    # The model.

    def component(self, router: str) -> set[str]:
        found = {router}
        while True:
            more = {other for pair in self.links for other in pair if found & set(pair)} | found
            if more == found:
                return found
            found = more

    def can_reach(self, viewer: Node, other: Node) -> bool:
        """Whether messages of one may reach the other at all."""
        if viewer.router == other.router and viewer.role == other.role == "peer":
            return False
        return other.router in self.component(viewer.router)

    def receivers(self, kind: int, source: Node, key: str) -> set[str]:
        return {
            one.name
            for one in self.nodes.values()
            if one is not source
            and self.can_reach(source, one)
            and any(intersects(held, key) for held in one.has[kind].values())
        }

    def all_know_what_they_asked_for(self) -> None:
        for viewer in self.nodes.values():
            for kind in KINDS if viewer.asks_all else ():
                visible = {
                    key
                    for one in self.nodes.values()
                    if self.can_reach(viewer, one)
                    and (one is not viewer or (kind == TOK and viewer.role == ""))
                    for key in one.has[kind].values()
                }
                announced = set(viewer.announced[kind].values())
                if kind == TOK:
                    # The end of a token is not announced to a node that has it itself.
                    announced -= set(viewer.has[TOK].values()) - visible
                assert announced == visible, (viewer.name, kind)

    # The messages that nodes receive.

    def listen(self) -> None:
        for name, node in self.nodes.items():
            outlet = self.web.outlets[name]
            for message, key, _ in outlet.messages:
                if isinstance(message, Declare):
                    self.note(node, message, key)
                elif isinstance(message, Push):
                    node.pushed.append(key)
                elif isinstance(message, Request):
                    node.requests.append(message.request_id)
                elif isinstance(message, ResponseFinal):
                    node.ended.append(message.request_id)
            outlet.messages.clear()

    def note(self, node: Node, message: Declare, key: str) -> None:
        body = message.body
        if isinstance(body, DeclareSubscriber):
            node.announced[SUB][body.id] = key
        elif isinstance(body, DeclareQueryable):
            node.announced[QBL][body.id] = key
        elif isinstance(body, DeclareToken):
            node.announced[TOK][body.id] = key
        elif isinstance(body, UndeclareSubscriber):
            del node.announced[SUB][body.id]
        elif isinstance(body, UndeclareQueryable):
            del node.announced[QBL][body.id]
        elif isinstance(body, UndeclareToken):
            del node.announced[TOK][body.id]
        elif not isinstance(body, DeclareKeyExpr):
            assert message.interest_id == 1

    def all_leave(self) -> None:
        """Remove all nodes: nothing may be left behind on any router."""
        for name in list(self.nodes):
            self.web.disconnects(name)
        for dispatcher in self.web.routers.values():
            tables = dispatcher.tables
            assert [len(table) for table in tables.entities] == [0, 0, 0]
            assert len(tables.interests) == 0
        for pair in sorted(self.links):
            self.web.unlink(*pair)
        self.web.time_passes(PATIENCE_S)
        for dispatcher in self.web.routers.values():
            assert dispatcher.faces == []
            assert dispatcher.tables.memory.held_bytes == 0
            assert dispatcher.next_deadline() is None


@pytest.mark.parametrize("offset", range(10))
def test_many_events_in_networks(offset: int) -> None:
    seed = int(os.environ.get("ZENLAKE_SEED", "20261116")) + offset
    print("seed", seed)
    RandomNetwork(random.Random(seed)).run(200)


@pytest.mark.parametrize("steps", [1, 40])
def test_events_whose_jobs_run_in_short_slices(steps: int) -> None:
    """Jobs that run in many slices have the same result."""
    network = RandomNetwork(random.Random(steps))
    network.web.slice_steps = steps
    network.run(150)
