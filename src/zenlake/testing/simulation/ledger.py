"""Ledger: everything that the applications of a run declared, published and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.keyexpr.matching import includes, intersects
from zenlake.testing.simulation.promises import Promise, Promises, Route
from zenlake.testing.simulation.records import (
    Get,
    Listener,
    Publication,
    Queryable,
    Record,
    ReplyRecord,
    Speaker,
    Subscriber,
    Token,
    Watcher,
)
from zenlake.wire import QueryTarget

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode
    from zenlake.testing.simulation.world import World


class Ledger:
    """The records of all nodes, and what they were promised."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.promises = Promises()
        self.publications: list[Publication] = []
        self.replies: list[ReplyRecord] = []
        self.gets: list[Get] = []
        self.subscribers: list[Subscriber] = []
        self.queryables: list[Queryable] = []
        self.tokens: list[Token] = []
        self.watchers: list[Watcher] = []
        self.speakers: list[Speaker] = []
        self.listeners: list[Listener] = []

    def live(self, node: SimulatedNode) -> list[Record]:
        """What a node has declared, listeners before the speakers they belong to."""
        groups: tuple[list[Record], ...] = (
            [*self.subscribers],
            [*self.queryables],
            [*self.tokens],
            [*self.watchers],
            [*self.listeners],
            [*self.speakers],
        )
        return [one for group in groups for one in group if one.node is node and one.is_live]

    def _settled(self, node: SimulatedNode, record: Record) -> tuple[Route | None, bool]:
        """The route from `node` to a record's node, and whether both know each other well."""
        route = self._world.route(node, record.node)
        if route is None:
            return None, False
        ready_at = route.ready_at()
        now = self._world.timeline.now
        return route, max(ready_at, record.declared_at + 1.0) <= now

    def publish(self, publication: Publication) -> None:
        """Before it is sent: who must get it."""
        self.publications.append(publication)
        now = self._world.timeline.now
        for subscriber in self.subscribers:
            if not subscriber.is_live or not intersects(subscriber.key, publication.key):
                continue
            if not subscriber.hears(publication.node, publication.destination):
                continue
            route, is_settled = self._settled(publication.node, subscriber)
            if route is None:
                continue
            publication.routes[subscriber] = route
            if is_settled or publication.node is subscriber.node:
                what = f"publication {publication.number} `{publication.key}` for {subscriber}"
                promise = Promise(what, now, route, [subscriber])
                publication.promises[subscriber] = self.promises.add(promise)

    def ask(self, get: Get) -> None:
        """Before it is sent: who must be asked."""
        self.gets.append(get)
        now = self._world.timeline.now
        for queryable in self.queryables:
            if not queryable.is_live or not intersects(queryable.key, get.key):
                continue
            if not queryable.hears(get.node):
                continue
            route, is_settled = self._settled(get.node, queryable)
            if route is None:
                continue
            get.routes[queryable] = route
            is_meant = get.target == QueryTarget.ALL or (
                get.target == QueryTarget.ALL_COMPLETE
                and queryable.is_complete
                and includes(queryable.key, get.key)
            )
            if is_meant and (is_settled or queryable.node is get.node):
                promise = Promise(f"{get} for {queryable}", now, route, [queryable])
                get.promises[queryable] = self.promises.add(promise)

    def ask_liveliness(self, get: Get) -> None:
        get.is_liveliness = True
        self.gets.append(get)
        now = self._world.timeline.now
        for token in self.tokens:
            if not token.is_live or not intersects(token.key, get.key):
                continue
            route, is_settled = self._settled(get.node, token)
            if route is not None and (is_settled or token.node is get.node):
                promise = Promise(f"{get} about {token}", now, route, [token])
                get.token_promises.append((token.key, self.promises.add(promise)))

    def reply(self, reply: ReplyRecord, queryable: Queryable) -> None:
        """Before it is sent: whether the asker must get it."""
        self.replies.append(reply)
        get = reply.get
        now = self._world.timeline.now
        asked_over = get.routes.get(queryable)
        is_late = now + 1.0 > get.declared_at + get.timeout_s
        if asked_over is None or is_late or not get.is_live or not asked_over.is_up():
            return
        back = Route(asked_over.nodes[::-1], asked_over.wires[::-1])
        if back.ready_at() <= now or back.nodes[0] is back.nodes[-1]:
            promise = Promise(f"reply {reply.number} to {get}", now, back, [])
            reply.promise = self.promises.add(promise)

    def cancel(self, get: Get) -> None:
        """Nobody waits for it any more."""
        get.cancelled_at = self._world.timeline.now
        promises = [*get.promises.values(), *(one for _, one in get.token_promises)]
        promises.extend(
            one.promise for one in self.replies if one.get is get and one.promise is not None
        )
        for promise in promises:
            promise.is_kept = True

    def check(self) -> None:
        """When all is quiet."""
        self.promises.check()
        for get in self.gets:
            get.check_end()
