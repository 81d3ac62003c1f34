"""Matching status: whether a publisher or querier has a counterpart (behaviour ref. §2.3)."""

from __future__ import annotations

from zenlake.keyexpr.matching import includes, intersects
from zenlake.session.interests import SUBSCRIBERS, Interests, SharedInterest
from zenlake.session.locality import Locality
from zenlake.session.port import Port
from zenlake.session.queryables import Queryables
from zenlake.session.settings import aggregate
from zenlake.session.sink import Sink
from zenlake.session.subscribers import Subscribers
from zenlake.wire import InterestMode


class MatchingSource:
    """A publisher or a querier, whose matching status can be read and listened to."""

    __slots__ = (
        "all_complete",
        "destination",
        "eid",
        "interest",
        "is_live",
        "key",
        "kind",
        "listeners",
    )

    def __init__(
        self, eid: int, kind: int, key: str, destination: Locality, all_complete: bool
    ) -> None:
        self.eid = eid
        self.kind = kind
        self.key = key
        self.destination = destination
        self.all_complete = all_complete
        self.interest: SharedInterest | None = None
        self.listeners: list[MatchingEntity] = []
        self.is_live = True


class MatchingEntity:
    """One matching listener and the status that was reported to it last."""

    __slots__ = ("eid", "is_live", "last_status", "sink", "source")

    def __init__(self, eid: int, source: MatchingSource, sink: Sink) -> None:
        self.eid = eid
        self.source = source
        self.sink = sink
        self.last_status = False
        self.is_live = True


class Matching:
    """Subscribers and queryables of others, and the matching listeners of this session."""

    __slots__ = (
        "_interests",
        "_port",
        "_queryables",
        "_remote",
        "_subscribers",
        "_watched",
        "sources",
    )

    def __init__(
        self, port: Port, interests: Interests, subscribers: Subscribers, queryables: Queryables
    ) -> None:
        self._port = port
        self._interests = interests
        self._subscribers = subscribers
        self._queryables = queryables
        # Entities of others by kind and id: the key, and whether a queryable is complete.
        self._remote: tuple[dict[int, tuple[str, bool]], ...] = ({}, {})
        self.sources: dict[int, MatchingSource] = {}
        # Sources with listeners: only they must be checked when something changes.
        self._watched: dict[int, MatchingSource] = {}

    def declare(
        self, kind: int, key: str, destination: Locality, all_complete: bool, now: float
    ) -> MatchingSource:
        """Declare a publisher or querier; one with local destination needs no interest."""
        source = MatchingSource(self._port.next_eid(), kind, key, destination, all_complete)
        self.sources[source.eid] = source
        if destination != Locality.SESSION_LOCAL:
            interest_key = key
            if kind == SUBSCRIBERS:
                interest_key = aggregate(key, self._port.settings.aggregated_publishers)
            mode = InterestMode.CURRENT_FUTURE
            source.interest = self._interests.acquire(kind, mode, interest_key, now)
        return source

    def undeclare(self, source: MatchingSource, now: float) -> None:
        source.is_live = False
        del self.sources[source.eid]
        self._watched.pop(source.eid, None)
        for listener in source.listeners:
            listener.is_live = False
            self._port.close(listener.sink)
        source.listeners.clear()
        interest = source.interest
        if interest is not None and self._interests.release(interest, now):
            self._forget_uncovered(interest.kind)

    def listen(self, source: MatchingSource, sink: Sink) -> MatchingEntity:
        """Add a listener: called once with true if it matches already, then on every change."""
        listener = MatchingEntity(self._port.next_eid(), source, sink)
        source.listeners.append(listener)
        self._watched[source.eid] = source
        self._update(source)
        return listener

    def remove_listener(self, listener: MatchingEntity) -> None:
        listener.is_live = False
        source = listener.source
        source.listeners.remove(listener)
        if not source.listeners:
            del self._watched[source.eid]
        self._port.close(listener.sink)

    def is_matching(self, source: MatchingSource) -> bool:
        if source.destination != Locality.REMOTE and self._matches_locally(source):
            return True
        return source.destination != Locality.SESSION_LOCAL and self._matches_remotely(source)

    def changed(self, kind: int, key: str) -> None:
        """A subscriber or queryable on `key` was added or removed, here or elsewhere."""
        for source in self._watched.values():
            if source.kind == kind and intersects(source.key, key):
                self._update(source)

    def receive_declared(self, kind: int, id: int, key: str, complete: bool = False) -> None:
        """Handle D_SUBSCRIBER or D_QUERYABLE."""
        self._remote[kind][id] = (key, complete)
        self.changed(kind, key)

    def receive_undeclared(self, kind: int, id: int) -> None:
        """Handle U_SUBSCRIBER or U_QUERYABLE."""
        known = self._remote[kind].pop(id, None)
        if known is not None:
            self.changed(kind, known[0])

    def close(self) -> None:
        for source in self.sources.values():
            source.is_live = False
            for listener in source.listeners:
                listener.is_live = False
                self._port.close(listener.sink)
        self.sources.clear()
        self._watched.clear()

    def _update(self, source: MatchingSource) -> None:
        status = self.is_matching(source)
        for listener in source.listeners:
            if listener.last_status != status:
                listener.last_status = status
                self._port.to_application(listener.sink, self._port.factory.status(status))

    def _matches_locally(self, source: MatchingSource) -> bool:
        if source.kind == SUBSCRIBERS:
            return self._subscribers.has_local(source.key)
        return self._queryables.has_local(source.key, source.all_complete)

    def _matches_remotely(self, source: MatchingSource) -> bool:
        key = source.key
        remote = self._remote[source.kind].values()
        if source.kind == SUBSCRIBERS:
            return any(intersects(other, key) for other, _ in remote)
        # The reference tests queryables of others by inclusion (behaviour reference §2.3).
        return any(
            (complete or not source.all_complete) and includes(other, key)
            for other, complete in remote
        )

    def _forget_uncovered(self, kind: int) -> None:
        """Forget entities that no interest covers any more: their end will not be received."""
        keys = self._interests.keys(kind)
        for id, (key, _) in list(self._remote[kind].items()):
            if not any(intersects(watched, key) for watched in keys):
                del self._remote[kind][id]
