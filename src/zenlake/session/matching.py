"""Whether anybody listens: matching status of publishers and queriers (behaviour ref. §2.3)."""

from __future__ import annotations

from zenlake.keyexpr.matching import includes, intersects
from zenlake.session.interests import QUERYABLES, SUBSCRIBERS, Interests, SharedInterest
from zenlake.session.locality import Locality
from zenlake.session.port import Port
from zenlake.session.queryables import Queryables
from zenlake.session.settings import aggregate
from zenlake.session.sink import Sink
from zenlake.session.subscribers import Subscribers
from zenlake.wire import InterestMode


class Speaker:
    """A publisher or a querier: one who wants to know whether anybody listens."""

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
    """One matching listener and what it was told last."""

    __slots__ = ("eid", "is_live", "sink", "speaker", "told")

    def __init__(self, eid: int, speaker: Speaker, sink: Sink) -> None:
        self.eid = eid
        self.speaker = speaker
        self.sink = sink
        self.told = False
        self.is_live = True


class Matching:
    """What the node told of others' subscribers and queryables, and who wants to know."""

    __slots__ = (
        "_heard",
        "_interests",
        "_port",
        "_queryables",
        "_remote_queryables",
        "_remote_subscribers",
        "_subscribers",
        "speakers",
    )

    def __init__(
        self, port: Port, interests: Interests, subscribers: Subscribers, queryables: Queryables
    ) -> None:
        self._port = port
        self._interests = interests
        self._subscribers = subscribers
        self._queryables = queryables
        self._remote_subscribers: dict[int, str] = {}
        self._remote_queryables: dict[int, tuple[str, bool]] = {}
        self.speakers: dict[int, Speaker] = {}
        # Those with listeners: the only ones a change concerns.
        self._heard: dict[int, Speaker] = {}

    def declare(
        self, kind: int, key: str, destination: Locality, all_complete: bool, now: float
    ) -> Speaker:
        """A publisher or a querier; one that stays in its session asks nobody."""
        speaker = Speaker(self._port.next_eid(), kind, key, destination, all_complete)
        self.speakers[speaker.eid] = speaker
        if destination != Locality.SESSION_LOCAL:
            asked = key
            if kind == SUBSCRIBERS:
                asked = aggregate(key, self._port.settings.aggregated_publishers)
            mode = InterestMode.CURRENT_FUTURE
            speaker.interest = self._interests.acquire(kind, mode, asked, now)
        return speaker

    def undeclare(self, speaker: Speaker, now: float) -> None:
        speaker.is_live = False
        del self.speakers[speaker.eid]
        self._heard.pop(speaker.eid, None)
        for listener in speaker.listeners:
            listener.is_live = False
            self._port.close(listener.sink)
        speaker.listeners.clear()
        interest = speaker.interest
        if interest is not None and self._interests.release(interest, now):
            self._forget_unwatched(interest.kind)

    def listen(self, speaker: Speaker, sink: Sink) -> MatchingEntity:
        """Called once with true if it matches already, then on every change."""
        listener = MatchingEntity(self._port.next_eid(), speaker, sink)
        speaker.listeners.append(listener)
        self._heard[speaker.eid] = speaker
        self._update(speaker)
        return listener

    def unlisten(self, listener: MatchingEntity) -> None:
        listener.is_live = False
        speaker = listener.speaker
        speaker.listeners.remove(listener)
        if not speaker.listeners:
            del self._heard[speaker.eid]
        self._port.close(listener.sink)

    def is_matching(self, speaker: Speaker) -> bool:
        if speaker.destination != Locality.REMOTE and self._matches_locally(speaker):
            return True
        return speaker.destination != Locality.SESSION_LOCAL and self._matches_remotely(speaker)

    def changed(self, kind: int, key: str) -> None:
        """A subscriber or queryable on `key` came or went, here or elsewhere."""
        for speaker in self._heard.values():
            if speaker.kind == kind and intersects(speaker.key, key):
                self._update(speaker)

    def receive_subscriber(self, id: int, key: str) -> None:
        self._remote_subscribers[id] = key
        self.changed(SUBSCRIBERS, key)

    def receive_no_subscriber(self, id: int) -> None:
        key = self._remote_subscribers.pop(id, None)
        if key is not None:
            self.changed(SUBSCRIBERS, key)

    def receive_queryable(self, id: int, key: str, complete: bool) -> None:
        self._remote_queryables[id] = (key, complete)
        self.changed(QUERYABLES, key)

    def receive_no_queryable(self, id: int) -> None:
        known = self._remote_queryables.pop(id, None)
        if known is not None:
            self.changed(QUERYABLES, known[0])

    def close(self) -> None:
        for speaker in self.speakers.values():
            speaker.is_live = False
            for listener in speaker.listeners:
                listener.is_live = False
                self._port.close(listener.sink)
        self.speakers.clear()
        self._heard.clear()

    def _update(self, speaker: Speaker) -> None:
        status = self.is_matching(speaker)
        for listener in speaker.listeners:
            if listener.told != status:
                listener.told = status
                self._port.give(listener.sink, self._port.factory.status(status))

    def _matches_locally(self, speaker: Speaker) -> bool:
        if speaker.kind == SUBSCRIBERS:
            return self._subscribers.has_local(speaker.key)
        return self._queryables.has_local(speaker.key, speaker.all_complete)

    def _matches_remotely(self, speaker: Speaker) -> bool:
        key = speaker.key
        if speaker.kind == SUBSCRIBERS:
            return any(intersects(other, key) for other in self._remote_subscribers.values())
        # The reference tests queryables of others by inclusion (behaviour reference §2.3).
        return any(
            (complete or not speaker.all_complete) and includes(other, key)
            for other, complete in self._remote_queryables.values()
        )

    def _forget_unwatched(self, kind: int) -> None:
        """After FINAL nobody tells us when those go that only that interest covered."""
        keys = self._interests.keys(kind)
        if kind == SUBSCRIBERS:
            for id, key in list(self._remote_subscribers.items()):
                if not any(intersects(watched, key) for watched in keys):
                    del self._remote_subscribers[id]
        else:
            for id, (key, _) in list(self._remote_queryables.items()):
                if not any(intersects(watched, key) for watched in keys):
                    del self._remote_queryables[id]
