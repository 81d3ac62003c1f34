"""Random schedules on three nodes against a simple model (Q01)."""

from __future__ import annotations

import random

from tests.chance import IS_FULL, first_seed
from tests.session.network import ListSink, Network, Node, query_spec
from zenlake.keyexpr import intersects
from zenlake.session import Locality
from zenlake.session.core import Entity
from zenlake.wire import Put, QoS, QueryTarget, WhatAmI

SCHEDULES = 2_000 if IS_FULL else 150
STEPS = 30
KEYS = ["a", "a/b", "a/*", "a/**", "**", "a/c", "*/b", "a/$*c", "@v/a"]
TOPOLOGIES = [
    [WhatAmI.PEER, WhatAmI.PEER, WhatAmI.PEER],
    [WhatAmI.PEER, WhatAmI.CLIENT, WhatAmI.CLIENT],
]


class Listening:
    """One live subscriber, queryable or liveliness subscriber, as the model sees it."""

    def __init__(self, node: Node, entity: Entity, key: str, origin: Locality) -> None:
        self.node = node
        self.entity = entity
        self.key = key
        self.origin = origin
        self.sink = ListSink()

    def receives(self, node: Node, key: str, destination: Locality) -> bool:
        if not intersects(self.key, key):
            return False
        if node is self.node:
            return Locality.REMOTE not in (self.origin, destination)
        return Locality.SESSION_LOCAL not in (self.origin, destination)


class World:
    """The network, and the model of its state."""

    def __init__(self, chance: random.Random, roles: list[WhatAmI]) -> None:
        self.chance = chance
        self.network = Network()
        self.nodes = [self.network.add(role) for role in roles]
        for number, node in enumerate(self.nodes):
            for other in self.nodes[number + 1 :]:
                if WhatAmI.PEER in (node.role, other.role) and self._joined(node, other):
                    self.network.connect(node, other)
        self.subscribers: list[Listening] = []
        self.queryables: list[Listening] = []
        self.watchers: list[Listening] = []
        self.tokens: list[tuple[Node, Entity, str]] = []

    def _joined(self, node: Node, other: Node) -> bool:
        """Clients have one gateway, the first node."""
        is_client = WhatAmI.CLIENT in (node.role, other.role)
        return not is_client or self.nodes[0] in (node, other)

    def step(self) -> None:
        chance = self.chance
        node = chance.choice(self.nodes)
        key = chance.choice(KEYS)
        locality = chance.choice([Locality.ANY, Locality.ANY, *Locality])
        operation = chance.choice(
            [self.subscribe, self.queryable, self.publish, self.publish, self.ask, self.remove]
        )
        if chance.random() < 0.3:
            chance.choice([self.token, self.untoken, self.watch, self.presence])(node, key)
        else:
            operation(node, key, locality)
        self.network.pump()

    def subscribe(self, node: Node, key: str, origin: Locality) -> None:
        sink = ListSink()
        entity = node.core.declare_subscriber(key, sink, origin, self.network.now)
        self._note(self.subscribers, node, entity, key, origin, sink)

    def queryable(self, node: Node, key: str, origin: Locality) -> None:
        sink = ListSink()
        entity = node.core.declare_queryable(key, sink, False, origin, self.network.now)
        self._note(self.queryables, node, entity, key, origin, sink)

    def watch(self, node: Node, key: str) -> None:
        sink = ListSink()
        entity = node.core.declare_liveliness_subscriber(key, sink, True, self.network.now)
        self._note(self.watchers, node, entity, key, Locality.ANY, sink)

    def _note(
        self,
        to: list[Listening],
        node: Node,
        entity: Entity,
        key: str,
        origin: Locality,
        sink: ListSink,
    ) -> None:
        listening = Listening(node, entity, key, origin)
        listening.sink = sink
        to.append(listening)

    def remove(self, node: Node, key: str, locality: Locality) -> None:
        kind = self.chance.choice([self.subscribers, self.queryables, self.watchers])
        if kind:
            gone = kind.pop(self.chance.randrange(len(kind)))
            gone.node.core.undeclare(gone.entity, self.network.now)
            self.network.pump()
            assert gone.sink.is_closed

    def publish(self, node: Node, key: str, destination: Locality) -> None:
        core = node.core
        publication = core.publications.prepare(key, QoS(5), True, destination, None)
        core.put(publication, Put(b""), None, self.network.now)
        self.network.pump()
        for one in self.subscribers:
            expected = [(key, b"")] if one.receives(node, key, destination) else []
            assert one.sink.samples == expected, (one.key, key, destination)
            one.sink.pop_items()

    def ask(self, node: Node, key: str, destination: Locality) -> None:
        answers = ListSink()
        asking = query_spec(target=QueryTarget.ALL, destination=destination)
        node.core.get(key, "", asking, answers, self.network.now)
        self.network.pump()
        expected = 0
        for one in self.queryables:
            is_received = one.receives(node, key, destination)
            assert len(one.sink.queries) == is_received, (one.key, key, destination)
            for asked in one.sink.queries:
                expected += 1
                core = one.node.core
                core.reply(asked.incoming, asked.eid, key, Put(b""), None, self.network.now)
                core.drop_query(asked.incoming, self.network.now)
            one.sink.pop_items()
        self.network.pump()
        assert answers.is_closed
        assert len(answers.items) == min(expected, 1)  # LATEST: all on the key of the query

    def token(self, node: Node, key: str) -> None:
        self.tokens.append((node, node.core.declare_token(key, self.network.now), key))

    def untoken(self, node: Node, key: str) -> None:
        if self.tokens:
            owner, token, _ = self.tokens.pop(self.chance.randrange(len(self.tokens)))
            owner.core.undeclare(token, self.network.now)

    def presence(self, node: Node, key: str) -> None:
        present = {token_key for _, _, token_key in self.tokens}
        answers = ListSink()
        node.core.liveliness_get(key, answers, 1_000, self.network.now)
        self.network.pump()
        assert answers.is_closed
        found = sorted(found for found, _ in answers.samples)
        assert found == sorted(other for other in present if intersects(key, other))
        for watcher in self.watchers:
            alive: dict[str, bool] = {}
            for token_key, payload in watcher.sink.samples:
                is_put = payload is not None
                assert alive.get(token_key, False) != is_put, "reported twice"
                alive[token_key] = is_put
            seen = {token_key for token_key, is_alive in alive.items() if is_alive}
            assert seen == {other for other in present if intersects(watcher.key, other)}


def test_random_schedules_agree_with_the_model() -> None:
    seed = first_seed()
    print("seed", seed)
    for number in range(SCHEDULES):
        chance = random.Random(seed + number)
        world = World(chance, TOPOLOGIES[number % len(TOPOLOGIES)])
        for _ in range(STEPS):
            world.step()
        assert all(node.core.port.counters == {} for node in world.nodes)
