"""A model of the rules of routing, and random events at a peer or a router that follow it.

The model keeps plain lists of who declared what. It reads the messages that every face is sent as
that neighbour would, and compares: who knows what, who gets a publication, who is asked a query,
and that nothing is left when everybody has gone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.routing.model_neighbour import PLAIN, QBL, SUB, TOK, Info, Neighbour
from tests.routing.playbook import (
    Play,
    end_interest,
    final,
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
from zenlake.keyexpr.matching import includes, intersects
from zenlake.routing.declarations.entity import KINDS
from zenlake.wire import NetworkMessage, Push, QueryTarget, Request, WireExpr

KEYS = ["a", "a/b", "a/*", "**", "*/b"]
NAMES = {
    "app": "",
    "admin": "",
    "c1": "client",
    "c2": "client",
    "p1": "peer",
    "p2": "peer",
    "r1": "router",
    "r2": "router",
}
REGIONS = {
    "peer": {"": "local", "client": "clients", "peer": "north", "router": "north"},
    "router": {"": "local", "client": "clients", "peer": "peers"},
}
RELAYING = ("local", "clients")


def merged(infos: Iterable[Info]) -> Info | None:
    ranked = sorted(infos, key=lambda info: (not info[0], info[1]))
    return ranked[0] if ranked else None


class RandomEvents:
    """Random events at one node; after each, its neighbours know what the rules say."""

    def __init__(self, chance: random.Random, role: str) -> None:
        self.chance = chance
        self.play = Play(role, gossip=False)
        self.regions = REGIONS[role]
        self.names = [name for name in NAMES if NAMES[name] in self.regions]
        self.all: dict[str, Neighbour] = {}
        self.actions = (
            [
                self.connect,
                self.disconnect,
                self.time_passes,
                self.ask,
                self.ask_no_more,
                self.answer,
            ]
            + [self.answer] * 2
            + [self.declare, self.undeclare, self.publish, self.query] * 3
        )

    def run(self, steps: int) -> None:
        for name in self.names:
            self.connects(name)
        for _ in range(steps):
            self.chance.choice(self.actions)()
            self.check_what_neighbours_know()
            self.check_interests_of_routers()
        self.all_leave()

    # The rules of the model.

    def visible(self, kind: int, viewer: Neighbour) -> dict[str, Info]:
        found: dict[str, list[Info]] = {}
        for holder in self.all.values():
            own = holder is viewer
            if own and not (kind == TOK and viewer.region == "local"):
                continue
            if not own and holder.region == viewer.region not in RELAYING:
                continue
            for key, info in holder.has[kind].values():
                found.setdefault(key, []).append(info)
        return {key: merged(infos) or PLAIN for key, infos in found.items()}

    def unknown(self, kind: int, viewer: Neighbour, key: str) -> bool:
        if viewer.region != "north":
            return False
        if NAMES[viewer.name] == "peer":
            return not viewer.is_final
        return NAMES[viewer.name] == "router" and not any(
            done and text in (key, "") and viewer.asked_kinds[id][kind]
            for id, (text, done) in viewer.asked.items()
        )

    def receivers(self, kind: int, source: Neighbour, key: str) -> set[str]:
        found = set()
        for other in self.all.values():
            if other is source or (other.region == source.region not in RELAYING):
                continue
            if any(intersects(held, key) for held, _ in other.has[kind].values()) or (
                source.region != "north"
                and other.region == "north"
                and self.unknown(kind, other, key)
            ):
                found.add(other.name)
        return found

    # Random events.

    def listen(self) -> None:
        for name, neighbour in self.all.items():
            outlet = self.play.outlets[name]
            for message, key, _ in outlet.messages:
                if outlet.is_local and isinstance(message, Push | Request):
                    # The application must not look at the key of the message.
                    message.key = WireExpr(0, key)
                neighbour.reads(message, key)
            outlet.messages.clear()

    def pick(self, names: Iterable[str] | None = None) -> Neighbour | None:
        choices = sorted(self.all if names is None else names)
        return self.all[self.chance.choice(choices)] if choices else None

    def connects(self, name: str) -> None:
        self.all[name] = Neighbour(name, self.regions[NAMES[name]])
        self.play.connects(name, NAMES[name])
        self.listen()

    def connect(self) -> None:
        absent = sorted(set(self.names) - set(self.all))
        if absent:
            name = self.chance.choice(absent)
            print("connects", name)
            self.connects(name)

    def disconnect(self) -> None:
        neighbour = self.pick()
        if neighbour is not None:
            print("disconnects", neighbour.name)
            del self.all[neighbour.name]
            self.play.disconnects(neighbour.name)
            self.listen()

    def sends(self, neighbour: Neighbour, message: NetworkMessage) -> None:
        print(neighbour.name, message)
        self.play.sends(neighbour.name, message)
        self.listen()

    def declare(self) -> None:
        neighbour = self.pick()
        if neighbour is None:
            return
        kind = self.chance.choice(KINDS)
        key = self.chance.choice(KEYS)
        id = neighbour.next_id
        neighbour.next_id += 1
        if kind == QBL and neighbour.has[QBL] and self.chance.choice([True, False]):
            id = self.chance.choice(sorted(neighbour.has[QBL]))
            key = neighbour.has[QBL][id][0]
        info = (self.chance.choice([True, False]), self.chance.choice([0, 1, 2]))
        neighbour.has[kind][id] = (key, info if kind == QBL else PLAIN)
        if kind == SUB:
            self.sends(neighbour, subscriber(id, key))
        elif kind == QBL:
            self.sends(neighbour, queryable(id, key, *info))
        else:
            self.sends(neighbour, token(id, key))

    def undeclare(self) -> None:
        kind = self.chance.choice(KINDS)
        neighbour = self.pick(name for name, n in self.all.items() if n.has[kind])
        if neighbour is None:
            return
        id = self.chance.choice(sorted(neighbour.has[kind]))
        del neighbour.has[kind][id]
        self.sends(neighbour, (no_subscriber, no_queryable, no_token)[kind](id))

    def ask(self) -> None:
        neighbour = self.pick(name for name, n in self.all.items() if n.region != "north")
        if neighbour is None:
            return
        mode = self.chance.choice(["current_future", "current_future", "future", "current"])
        options = self.chance.choice(["KS", "KQ", "KT", "S", "SQ", "KSQT"])
        key = self.chance.choice([*KEYS, None])
        if mode == "current":
            options = "KT"
        id = neighbour.next_id
        neighbour.next_id += 1
        kinds = tuple(kind for kind in KINDS if "SQT"[kind] in options)
        if mode != "current":
            neighbour.asks[id] = (mode, kinds, key or "")
        neighbour.awaits[id] = 1
        self.sends(neighbour, interest(id, mode, options, key))

    def ask_no_more(self) -> None:
        neighbour = self.pick(name for name, n in self.all.items() if n.asks)
        if neighbour is None:
            return
        id = self.chance.choice(sorted(neighbour.asks))
        del neighbour.asks[id]
        del neighbour.awaits[id]
        self.sends(neighbour, end_interest(id))

    def answer(self) -> None:
        """A peer ends its initial declarations, a router those for an interest."""
        neighbour = self.pick(name for name, n in self.all.items() if n.region == "north")
        if neighbour is None:
            return
        if NAMES[neighbour.name] == "peer":
            neighbour.is_final = True
            self.sends(neighbour, final(0))
            return
        unanswered = [id for id, (_, done) in neighbour.asked.items() if not done]
        if unanswered:
            id = self.chance.choice(unanswered)
            neighbour.asked[id] = (neighbour.asked[id][0], True)
            due = self.due()
            self.sends(neighbour, final(id))
            assert self.due() <= due

    def due(self) -> set[tuple[str, int]]:
        """The finals that are still to come."""
        return {(n.name, id) for n in self.all.values() for id, due in n.awaits.items() if due}

    def time_passes(self) -> None:
        seconds = self.chance.choice([1.0, 11.0])
        print("time passes:", seconds)
        self.play.time_passes(seconds)
        self.listen()
        if seconds > 10:
            assert not self.due()

    def publish(self) -> None:
        source = self.pick()
        if source is None:
            return
        key = self.chance.choice(KEYS)
        self.sends(source, put(key))
        got = {name: n.pushed for name, n in self.all.items() if n.pushed}
        assert got == {name: [key] for name in self.receivers(SUB, source, key)}
        for neighbour in self.all.values():
            neighbour.pushed = []

    def query(self) -> None:
        source = self.pick()
        if source is None:
            return
        key = self.chance.choice(KEYS)
        target = self.chance.choice(list(QueryTarget))
        self.sends(source, request(1, key, target))
        asked = {name for name, n in self.all.items() if n.requests}
        assert asked == self.chosen(source, key, target, asked)
        for name in sorted(asked):
            ((id, _),) = self.all[name].requests
            assert source.ended == []
            self.all[name].requests = []
            self.sends(self.all[name], response_final(id))
        assert source.ended == [1]
        source.ended = []

    def chosen(self, source: Neighbour, key: str, target: QueryTarget, asked: set[str]) -> set[str]:
        chosen: set[str] = set()
        all_of_them = self.receivers(QBL, source, key)
        for region in set(self.regions.values()):
            names = {name for name in all_of_them if self.all[name].region == region}
            complete = {
                name
                for name in names
                if any(
                    info[0] and includes(held, key)
                    for held, info in self.all[name].has[QBL].values()
                )
            }
            if target == QueryTarget.ALL_COMPLETE:
                chosen |= complete
                if region == "north" and source.region != "north":
                    chosen |= {n for n in names if self.unknown(QBL, self.all[n], key)}
            elif target == QueryTarget.BEST_MATCHING and complete:
                # Any of them may be chosen, but only one.
                best = asked & complete
                assert len(best) == 1
                chosen |= best
            else:
                chosen |= names
        return chosen

    # Invariants.

    def check_what_neighbours_know(self) -> None:
        for viewer in self.all.values():
            for kind in KINDS:
                visible = self.visible(kind, viewer)
                announced = dict(viewer.announced[kind].values())
                assert len(announced) == len(viewer.announced[kind]), "two ids for one key"
                if viewer.region == "north":
                    assert announced == visible
                    continue
                own = dict(viewer.has[TOK].values()) if kind == TOK else {}
                assert announced.items() <= (own | visible).items()  # own tokens may be in it
                for mode, kinds, wanted in viewer.asks.values():
                    if mode == "current_future" and kind in kinds:
                        for key in visible:
                            if not wanted or intersects(key, wanted):
                                assert key in announced

    def check_interests_of_routers(self) -> None:
        wanted = {(kinds, key) for n in self.all.values() for _, kinds, key in n.asks.values()}
        texts = {key for _, key in wanted}
        for viewer in self.all.values():
            if NAMES[viewer.name] == "router":
                lasting = {
                    text for id, (text, _) in viewer.asked.items() if any(viewer.asked_kinds[id])
                }
                assert lasting <= texts
                assert {
                    key
                    for n in self.all.values()
                    for mode, kinds, key in n.asks.values()
                    if mode == "current_future" and kinds != (TOK,)
                } <= {text for text, _ in viewer.asked.values()}

    def all_leave(self) -> None:
        """Remove all faces: nothing may be left behind."""
        for name in list(self.all):
            del self.all[name]
            self.play.disconnects(name)
            self.listen()
        tables = self.play.dispatcher.tables
        assert [len(table) for table in tables.entities] == [0, 0, 0]
        assert len(tables.interests) == 0
        assert self.play.dispatcher.next_deadline() is None
        assert self.play.dispatcher.faces == []
