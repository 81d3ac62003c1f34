"""Samples in: which of the session's subscribers get them (behaviour reference §2.4)."""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr.tree import KeyTree
from zenlake.session.held_bytes import held_bytes_of
from zenlake.session.locality import Locality
from zenlake.session.port import Port
from zenlake.session.settings import aggregate
from zenlake.session.sink import Sink
from zenlake.wire import DeclareSubscriber, Push, UndeclareSubscriber, WireExpr
from zenlake.wire.message import NetworkMessage

_REMEMBERED_MAX: Final = 8_192


class Subscription:
    """One subscriber: its key, accepted origin, and sink."""

    __slots__ = ("eid", "is_live", "key", "origin", "sink")

    def __init__(self, eid: int, key: str, sink: Sink, origin: Locality) -> None:
        self.eid = eid
        self.key = key
        self.sink = sink
        self.origin = origin
        self.is_live = True


class SharedDeclaration:
    """The one declaration to the network for all subscribers on one key."""

    __slots__ = ("id", "users")

    def __init__(self, id: int) -> None:
        self.id = id
        self.users = 0


class Subscribers:
    """All subscribers of the session. The sinks of a key are looked up once."""

    __slots__ = (
        "_by_key",
        "_declared",
        "_last_found",
        "_local",
        "_port",
        "_remote",
        "live",
        "version",
    )

    def __init__(self, port: Port) -> None:
        self._port = port
        self._by_key: KeyTree[list[Subscription]] = KeyTree()
        self._declared: dict[str, SharedDeclaration] = {}
        self.live: dict[int, Subscription] = {}
        # Key text to sinks; cleared whenever a subscriber is declared or undeclared.
        self._local: dict[str, list[Sink]] = {}
        self._remote: dict[str, list[Sink]] = {}
        self._last_found: list[Sink] = []
        self.version = 0
        """Incremented whenever a subscriber is declared or undeclared."""

    def declare(self, key: str, sink: Sink, origin: Locality, now: float) -> Subscription:
        subscription = Subscription(self._port.next_eid(), key, sink, origin)
        twins = self._by_key.get(key)
        if twins is None:
            self._by_key.insert(key, [subscription])
        else:
            twins.append(subscription)
        self.live[subscription.eid] = subscription
        self._forget_routes()
        if origin != Locality.SESSION_LOCAL:
            self._declare(key, now)
        return subscription

    def undeclare(self, subscription: Subscription, now: float) -> None:
        del self.live[subscription.eid]
        subscription.is_live = False
        twins = self._by_key.get(subscription.key)
        assert twins is not None
        twins.remove(subscription)
        if not twins:
            self._by_key.remove(subscription.key)
        self._forget_routes()
        if subscription.origin != Locality.SESSION_LOCAL:
            self._undeclare(subscription.key, now)
        self._port.close(subscription.sink)

    def receive_run(self, key: str, messages: list[NetworkMessage], start: int, stop: int) -> None:
        """Deliver publications of the network on one key, all PUSH. Hot."""
        sinks = self._remote.get(key)
        if sinks is None:
            sinks = self._route(key, Locality.SESSION_LOCAL, self._remote)
        if sinks:
            self._push_to_sinks(sinks, key, messages, start, stop)

    def receive_own(self, key: str, push: Push) -> None:
        """Deliver a publication of this session itself. Hot."""
        sinks = self._local.get(key)
        if sinks is None:
            sinks = self._route(key, Locality.REMOTE, self._local)
        if sinks:
            self._push_to_sinks(sinks, key, [push], 0, 1)

    def has_local(self, key: str) -> bool:
        """Whether a publication of this session on `key` would reach its own subscribers."""
        return any(
            twin.origin != Locality.REMOTE
            for twins in self._by_key.intersecting(key)
            for twin in twins
        )

    def close(self) -> None:
        for subscription in self.live.values():
            subscription.is_live = False
            self._port.close(subscription.sink)
        self.live.clear()
        self._by_key = KeyTree()
        self._forget_routes()

    def _push_to_sinks(
        self, sinks: list[Sink], key: str, messages: list[NetworkMessage], start: int, stop: int
    ) -> None:
        port = self._port
        make = port.factory.sample
        samples: list[object] = []
        size = 0
        for push in messages[start:stop]:
            assert isinstance(push, Push)
            stamps = push.stamps
            if stamps is not None:
                stamps = port.stamp_received(stamps)
            samples.append(make(key, push.body, push.qos, stamps))
            size += held_bytes_of(push.body)
        touched = port.touched
        for sink in sinks:
            sink.push_all(samples, size)
            # The sink is noted once for all samples: the last sink is nearly always the same.
            if not touched or touched[-1] is not sink:
                touched.append(sink)

    def _route(self, key: str, refused: Locality, known: dict[str, list[Sink]]) -> list[Sink]:
        if len(known) >= _REMEMBERED_MAX:
            known.clear()
        found = [
            twin.sink
            for twins in self._by_key.intersecting(key)
            for twin in twins
            if twin.origin != refused
        ]
        # Most keys have the same sinks, so they share one list: the garbage collector would visit
        # each of thousands of lists.
        if found == self._last_found:
            found = self._last_found
        else:
            self._last_found = found
        known[key] = found
        return found

    def _forget_routes(self) -> None:
        self.version += 1
        self._local.clear()
        self._remote.clear()
        self._last_found = []

    def _declare(self, key: str, now: float) -> None:
        port = self._port
        key = aggregate(key, port.settings.aggregated_subscribers)
        declared = self._declared.get(key)
        if declared is not None:
            declared.users += 1
            return
        declared = self._declared[key] = SharedDeclaration(port.next_id())
        declared.users = 1
        whole = WireExpr(0, port.namespace.full(key))
        port.declare(DeclareSubscriber(declared.id, whole), now)

    def _undeclare(self, key: str, now: float) -> None:
        key = aggregate(key, self._port.settings.aggregated_subscribers)
        declared = self._declared[key]
        declared.users -= 1
        if declared.users == 0:
            del self._declared[key]
            self._port.declare(UndeclareSubscriber(declared.id), now)
