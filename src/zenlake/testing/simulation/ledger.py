"""Ledger: all declarations, publications and queries of the applications of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.keyexpr.matching import includes, intersects
from zenlake.testing.simulation.promises import NodePath, Party, Promise, Promises
from zenlake.testing.simulation.records import (
    Get,
    ListenerRecord,
    Publication,
    Queryable,
    Record,
    ReplyRecord,
    SourceRecord,
    Subscriber,
    Token,
    Watcher,
)
from zenlake.wire import QueryTarget

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode
    from zenlake.testing.simulation.world import World

_FORGOTTEN_S: Final = 10.0
"""After this time no node has state of a node that ended."""


class Ledger:
    """The records of all nodes, and the promises made to them."""

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
        self.sources: list[SourceRecord] = []
        self.listeners: list[ListenerRecord] = []

    def live(self, node: SimulatedNode) -> list[Record]:
        """The declarations of a node, listeners before the sources they belong to."""
        groups: tuple[list[Record], ...] = (
            [*self.subscribers],
            [*self.queryables],
            [*self.tokens],
            [*self.watchers],
            [*self.listeners],
            [*self.sources],
        )
        return [one for group in groups for one in group if one.node is node and one.is_live]

    def _settled(self, node: SimulatedNode, record: Record) -> tuple[NodePath | None, bool]:
        """The path from `node` to a record's node, and whether its declaration has arrived."""
        path = self._world.reach.path(node, record.node)
        if path is None:
            return None, False
        ready_at = path.ready_at()
        now = self._world.timeline.now
        return path, max(ready_at, record.declared_at + 1.0) <= now

    def record_publication(self, publication: Publication) -> None:
        """Record a publication before it is sent, with promises for its receivers."""
        self.publications.append(publication)
        now = self._world.timeline.now
        for subscriber in self.subscribers:
            if not subscriber.is_live or not intersects(subscriber.key, publication.key):
                continue
            if not subscriber.may_receive_from(publication.node, publication.destination):
                continue
            path, is_settled = self._settled(publication.node, subscriber)
            if path is None:
                continue
            if is_settled or path.network is None:
                publication.paths[subscriber] = path
            if is_settled or publication.node is subscriber.node:
                what = f"publication {publication.number} `{publication.key}` for {subscriber}"
                promise = Promise(what, now, path, [subscriber])
                publication.promises[subscriber] = self.promises.add(promise)

    def record_query(self, get: Get) -> None:
        """Record a query before it is sent, with promises for the queryables that must get it."""
        self.gets.append(get)
        now = self._world.timeline.now
        found: list[tuple[Queryable, NodePath]] = []
        for queryable in self.queryables:
            if not queryable.is_live or not intersects(queryable.key, get.key):
                continue
            if not queryable.may_receive_from(get.node):
                continue
            path, is_settled = self._settled(get.node, queryable)
            if path is None:
                continue
            get.paths[queryable] = path
            if is_settled or queryable.node is get.node:
                found.append((queryable, path))
        complete = [
            (one, path) for one, path in found if one.is_complete and includes(one.key, get.key)
        ]
        if get.target == QueryTarget.BEST_MATCHING and self._has_alternative(get, complete):
            return
        if get.target == QueryTarget.BEST_MATCHING and complete:
            promise = self.promises.add(_promise_of_any(get, complete, now))
            get.promises.update((one, promise) for one, _ in complete)
            return
        for queryable, path in complete if get.target == QueryTarget.ALL_COMPLETE else found:
            promise = Promise(f"{get} for {queryable}", now, path, [queryable])
            get.promises[queryable] = self.promises.add(promise)

    def _has_alternative(self, get: Get, complete: list[tuple[Queryable, NodePath]]) -> bool:
        """Whether the query may go to another queryable instead, one not settled or gone.

        It may also go to a gateway of a peer with several gateways that does not forward it: other
        routers choose the nearest of them, but only one of them forwards to the peer.
        """
        now = self._world.timeline.now
        gateways = [self._world.reach.gateway(one.node) for one, _ in complete]
        if any(len(peer.plan.connects) > 1 for peer in gateways if peer and peer.is_below_others):
            return True
        return any(
            one.is_complete
            and includes(one.key, get.key)
            and one.closed_at > now - 1.0
            and (one.node.stopped_at is None or one.node.stopped_at > now - _FORGOTTEN_S)
            and all(one is not other for other, _ in complete)
            for one in self.queryables
        )

    def record_liveliness_query(self, get: Get) -> None:
        get.is_liveliness = True
        self.gets.append(get)
        now = self._world.timeline.now
        for token in self.tokens:
            if not token.is_live or not intersects(token.key, get.key):
                continue
            path, is_settled = self._settled(get.node, token)
            if path is not None and (is_settled or token.node is get.node):
                promise = Promise(f"{get} about {token}", now, path, [token])
                get.token_promises.append((token.key, self.promises.add(promise)))

    def record_reply(self, reply: ReplyRecord, queryable: Queryable) -> None:
        """Record a reply before it is sent, with a promise if the requester must get it."""
        self.replies.append(reply)
        get = reply.get
        now = self._world.timeline.now
        query_path = get.paths.get(queryable)
        is_late = now + 1.0 > get.declared_at + get.timeout_s
        if query_path is None or is_late or not get.is_live or not query_path.is_up():
            return
        back = NodePath(query_path.nodes[::-1], query_path.wires[::-1])
        if back.ready_at() <= now or back.nodes[0] is back.nodes[-1]:
            promise = Promise(f"reply {reply.number} to {get}", now, back, [])
            reply.promise = self.promises.add(promise)

    def cancel(self, get: Get) -> None:
        """Excuse the promises of a query that was cancelled."""
        promises = [*get.promises.values(), *(one for _, one in get.token_promises)]
        promises.extend(
            one.promise for one in self.replies if one.get is get and one.promise is not None
        )
        for promise in promises:
            promise.is_kept = True

    def check(self) -> None:
        """Check all promises and queries; called when the network is idle."""
        self.promises.check()
        for get in self.gets:
            get.check_end()


def _promise_of_any(get: Get, complete: list[tuple[Queryable, NodePath]], now: float) -> Promise:
    """One of the complete queryables must get the query; excused if any of them is gone."""
    nodes = dict.fromkeys(node for _, path in complete for node in path.nodes)
    wires = dict.fromkeys(wire for _, path in complete for wire in path.wires)
    network = next((path.network for _, path in complete if path.network is not None), None)
    path = NodePath(
        [get.node, *(node for node in nodes if node is not get.node)], list(wires), network
    )
    parties: list[Party] = [one for one, _ in complete]
    return Promise(f"{get} for any of {len(complete)} that are complete", now, path, parties)
