"""Records: the entities of simulated applications, which check what they receive."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from zenlake.keyexpr.matching import intersects
from zenlake.session import Locality, Sink
from zenlake.session.core import Entity
from zenlake.testing.simulation.items import Error, Ok, ReceivedQuery, Sample
from zenlake.testing.simulation.journal import InvariantError
from zenlake.testing.simulation.promises import NodePath, Promise
from zenlake.wire import ConsolidationMode, Del, Put, QueryTarget, WhatAmI

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode


class Record(Sink):
    """An entity from its declaration to its end."""

    def __init__(self, node: SimulatedNode, key: str) -> None:
        self.node = node
        self.key = key
        self.declared_at = node.timeline.now
        self.closed_at = inf
        self.entity: Entity | None = None
        self.origin = Locality.ANY
        """The locality of the publications or queries that it accepts."""

    def __str__(self) -> str:
        return f"{type(self).__name__.lower()} `{self.key}` of {self.node.name}"

    @property
    def is_live(self) -> bool:
        return self.closed_at == inf and self.node.is_running

    def may_receive_from(self, node: SimulatedNode, destination: Locality = Locality.ANY) -> bool:
        """Whether the two localities allow messages from `node` (behaviour ref. §2.9)."""
        refused = Locality.REMOTE if node is self.node else Locality.SESSION_LOCAL
        return refused not in (self.origin, destination)

    def push(self, item: object) -> None:
        if self.closed_at < inf:
            raise InvariantError(f"{self} gets something after its end")
        self.receive(item)

    def receive(self, item: object) -> None:
        raise InvariantError(f"{self} gets something")

    def close(self) -> None:
        self.closed_at = min(self.closed_at, self.node.timeline.now)

    def fail(self, text: str) -> InvariantError:
        return InvariantError(f"{self}: {text}")


class Publication:
    """One put or delete."""

    def __init__(
        self,
        number: int,
        node: SimulatedNode,
        key: str,
        priority: int,
        body: Put | Del,
        destination: Locality,
    ) -> None:
        self.number = number
        self.node = node
        self.made_at = node.timeline.now
        self.destination = destination
        self.key = key
        self.priority = priority
        self.body = body
        self.paths: dict[Subscriber, NodePath] = {}
        self.promises: dict[Subscriber, Promise] = {}


class Subscriber(Record):
    """A subscriber: gets each publication once, in order, and none that does not match."""

    def __init__(self, node: SimulatedNode, key: str, known: list[Publication]) -> None:
        super().__init__(node, key)
        self.seen: set[int] = set()
        self._known = known
        self._last: dict[tuple[SimulatedNode, int, tuple[int, ...]], int] = {}

    def receive(self, item: object) -> None:
        assert isinstance(item, Sample)
        publication = self._known[int(item.body.attachment or b"")]
        number = publication.number
        if item.key != publication.key or type(item.body) is not type(publication.body):
            raise self.fail(f"publication {number} was changed: {item}")
        if _payload(item.body) != _payload(publication.body):
            raise self.fail(f"the payload of publication {number} was changed")
        if not intersects(self.key, item.key):
            raise self.fail(f"publication {number} on `{item.key}` does not match")
        if not self.may_receive_from(publication.node, publication.destination):
            raise self.fail(f"publication {number} was not for it")
        if number in self.seen:
            if not publication.node.world.reach.was_settled(publication.made_at):
                return  # trees of routers may differ for a moment
            raise self.fail(f"publication {number} arrived twice")
        self.seen.add(number)
        promise = publication.promises.get(self)
        if promise is not None:
            promise.is_kept = True
        path = publication.paths.get(self)
        if path is not None:
            lane = (publication.node, publication.priority, path.numbers)
            if self._last.get(lane, -1) > number:
                raise self.fail(f"publication {number} arrived after {self._last[lane]}")
            self._last[lane] = number


class Queryable(Record):
    """A queryable: hands queries to its application."""

    def __init__(
        self,
        node: SimulatedNode,
        key: str,
        is_complete: bool,
        receive_query: Callable[[Queryable, ReceivedQuery], None],
    ) -> None:
        super().__init__(node, key)
        self.is_complete = is_complete
        self._receive_query = receive_query
        self.received: set[int] = set()

    def receive(self, item: object) -> None:
        assert isinstance(item, ReceivedQuery)
        number = int(item.incoming.parameters.removeprefix("n="))
        if not intersects(self.key, item.incoming.key):
            raise self.fail(f"query {number} on `{item.incoming.key}` does not match")
        self._receive_query(self, item)


class ReplyRecord:
    """One reply that was sent."""

    def __init__(self, number: int, get: Get, key: str) -> None:
        self.number = number
        self.get = get
        self.key = key
        self.promise: Promise | None = None


class Get(Record):
    """A query, or a liveliness query; it ends once and in time."""

    def __init__(
        self,
        number: int,
        node: SimulatedNode,
        key: str,
        timeout_s: float,
        target: QueryTarget,
        mode: ConsolidationMode,
        known: list[ReplyRecord],
    ) -> None:
        super().__init__(node, key)
        self.number = number
        self.timeout_s = timeout_s
        self.target = target
        self.mode = mode
        self.is_liveliness = False
        self.paths: dict[Queryable, NodePath] = {}
        self.promises: dict[Queryable, Promise] = {}
        self.token_promises: list[tuple[str, Promise]] = []
        self.keys: set[str] = set()
        self.errors: list[bytes] = []
        self._known = known
        self._seen: set[int] = set()

    def __str__(self) -> str:
        return f"get {self.number} `{self.key}` of {self.node.name}"

    def receive(self, item: object) -> None:
        if isinstance(item, Error):
            self.errors.append(item.payload)
            return
        assert isinstance(item, Ok)
        if not intersects(self.key, item.key):
            raise self.fail(f"a reply on `{item.key}` does not match")
        if self.is_liveliness and item.key in self.keys:
            raise self.fail(f"`{item.key}` arrived twice")
        self.keys.add(item.key)
        if self.is_liveliness:
            return
        reply = self._known[int(item.body.attachment or b"")]
        if reply.get is not self or reply.key != item.key:
            raise self.fail(f"reply {reply.number} was sent to another query")
        if reply.number in self._seen:
            raise self.fail(f"reply {reply.number} arrived twice")
        self._seen.add(reply.number)
        if reply.promise is not None:
            reply.promise.is_kept = True

    def close(self) -> None:
        if self.closed_at < inf:
            raise self.fail("it ends twice")
        super().close()
        # LATEST must return the newest reply for each key.
        if self.mode in (ConsolidationMode.LATEST, ConsolidationMode.AUTO):
            for reply in self._known:
                if reply.get is self and reply.promise is not None and reply.key in self.keys:
                    reply.promise.is_kept = True
        for key, promise in self.token_promises:
            promise.is_kept = promise.is_kept or key in self.keys

    def check_end(self) -> None:
        """Check that it ended in time; called when the network is idle."""
        node = self.node
        if self.closed_at == inf:
            if node.is_running:
                raise self.fail("it has not ended")
            return
        last = self.declared_at + self.timeout_s * 1.001 + 0.1
        last += sum(stop - start for start, stop in node.pauses if stop > self.declared_at)
        if self.closed_at > last:
            raise self.fail(f"it ended only at {self.closed_at:.4f}")


class Token(Record):
    """A liveliness token, present until it is undeclared."""


class Watcher(Record):
    """A liveliness subscriber: PUT and DELETE alternate for each key."""

    def __init__(
        self, node: SimulatedNode, key: str, with_history: bool, tokens: list[Token]
    ) -> None:
        super().__init__(node, key)
        self.with_history = with_history
        self.present: dict[str, bool] = {}
        self._tokens = tokens

    def receive(self, item: object) -> None:
        assert isinstance(item, Sample)
        is_put = isinstance(item.body, Put)
        if not intersects(self.key, item.key):
            raise self.fail(f"`{item.key}` does not match")
        # Without history the first sample of a token may be its DELETE.
        known = self.present.get(item.key, not is_put and not self.with_history)
        if known == is_put and (is_put or not self.is_short_sighted(item.key)):
            raise self.fail(f"`{item.key}` is {'PUT' if is_put else 'DELETE'} twice")
        self.present[item.key] = is_put

    def is_short_sighted(self, key: str) -> bool:
        """Whether the node may have known only its own tokens and those of its clients.

        Its interest is in future tokens only. So it regards the end of its own token as the end of
        all, and when its gateway announces the end of another, it reports a second end. The same
        applies to its gateway, if that is below others itself.
        """
        if self.with_history or not self.node.is_below_others:
            return False
        tokens = [token for token in self._tokens if token.key == key]
        gateways = self.node.possible_gateways()
        if self.node.role == WhatAmI.PEER or any(one.is_below_others for one in gateways):
            return len(tokens) > 0  # the token may have been that of any client
        return any(token.node is self.node and token.closed_at < inf for token in tokens)


class SourceRecord(Record):
    """A publisher or querier."""

    def __init__(self, node: SimulatedNode, key: str, is_querier: bool) -> None:
        super().__init__(node, key)
        self.is_querier = is_querier


class ListenerRecord(Record):
    """A matching listener: it gets only changes."""

    def __init__(self, node: SimulatedNode, source: SourceRecord) -> None:
        super().__init__(node, source.key)
        self.source = source
        self.is_matching = False

    def receive(self, item: object) -> None:
        if item is self.is_matching:
            raise self.fail(f"{item} twice")
        self.is_matching = bool(item)


def _payload(body: Put | Del) -> bytes | None:
    return body.payload if isinstance(body, Put) else None
