"""`PublicationForwarder`: forwards PUSH through the node (§4.2, §4.6). The hot path.

The route of a key depends on the region that the message comes from. It is cached until a
declaration, interest or alias that concerns the key changes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

from zenlake.keyexpr.search import Search
from zenlake.routing.declarations.entity import SUBSCRIBER, Entity
from zenlake.routing.face import Face
from zenlake.routing.forwarding.origin import ANYWHERE, NOWHERE, Origin
from zenlake.routing.forwarding.route import Route
from zenlake.routing.forwarding.route_notes import (
    NO_WAY,
    NOT_ELECTED,
    OTHER_GATEWAY,
    SAME_REGION,
    SENT,
    UNKNOWN,
    RouteNotes,
)
from zenlake.routing.hlc import Hlc
from zenlake.routing.region import ABOVE, BESIDE, EQUAL, Region
from zenlake.routing.stamps import ROUTE, Stamper
from zenlake.routing.tables import Tables
from zenlake.routing.work import Job
from zenlake.wire import Push, Put
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.timestamp import ntp64_of_ns
from zenlake.wire.values.wire_expr import WireExpr

_NOWHERE: Final = Route([], [])
"""The route of all keys without subscribers: one object, as a neighbour may publish on any number
of them. Its `is_current` is not used: outside the cache, only routes to one face are kept."""


class PublicationForwarder:
    __slots__ = ("_hlc", "_stamper", "_tables", "_wall_ns")

    def __init__(
        self,
        tables: Tables,
        hlc: Hlc | None,
        wall_ns: Callable[[], int] | None,
        stamper: Stamper,
    ) -> None:
        self._tables = tables
        self._hlc = hlc
        self._wall_ns = wall_ns
        self._stamper = stamper

    def receive(self, source: Face, message: Push, reliable: bool) -> None:
        found = self._resolve(source, message, reliable)
        if found is not None:
            self._send(source, message, found[0], found[1], reliable)

    def receive_run(
        self, source: Face, messages: list[NetworkMessage], start: int, stop: int, reliable: bool
    ) -> int:
        """Forward the PUSH at `start` and those after it with the same key; returns the end.

        Messages that are decoded as a run share the key object (wire/runs.py): one lookup.
        """
        first = messages[start]
        assert isinstance(first, Push)
        found = self._resolve(source, first, reliable)
        end = start + 1
        if found is None:
            return end  # each of them is counted
        is_stamped = first.stamps is not None
        while end < stop:
            message = messages[end]
            if not isinstance(message, Push) or message.key is not first.key:
                break
            if message.node_id != first.node_id:
                break
            if message.stamps is not None:
                is_stamped = True
            end += 1
        route, text = found
        if (
            self._hlc is None
            and not is_stamped
            and len(route.faces) == 1
            and route.faces[0].is_local
        ):
            if route.faces[0] is not source:
                route.faces[0].outlet.push_run(messages, start, end, text, reliable)
            return end
        for index in range(start, end):
            message = messages[index]
            assert isinstance(message, Push)
            self._send(source, message, route, text, reliable)
        return end

    def _resolve(self, source: Face, message: Push, reliable: bool) -> tuple[Route, str] | None:
        """The route of a message and its key; None if it is dropped.

        None also if the route is not found in this slice: then a job of the face sends the
        message.
        """
        key = source.keys.resolve(message.key)
        if key is None:
            self._tables.counters.unknown_aliases += 1
            return None
        origin = self.origin_of(source, message)
        if origin is None:
            return None
        route = origin.routes.get(key)
        if route is None:
            if not self._tables.is_valid(key):
                return None
            search = self._tables.entities[SUBSCRIBER].search(key)
            if not self._tables.work.search(search):
                job = self._send_when_found(source, origin, message, search, key, reliable)
                self._tables.work.run_for(source, job)
                return None
            route = self._make_route(origin, key, search.found)
            self._tables.routes.offer(origin.routes, key, route)
        return route, key

    def origin_of(self, source: Face, message: Push) -> Origin | None:
        """The origin of a message; None, and counted, if its NodeId is unknown."""
        if source.position != BESIDE:
            return source.origin
        router = self._tables.source_of(source, message.node_id)
        return None if router is None else router.origin

    def _send_when_found(
        self,
        source: Face,
        origin: Origin,
        message: Push,
        search: Search[Entity],
        key: str,
        reliable: bool,
    ) -> Job:
        cache = self._tables.routes
        changes = cache.changes
        route = yield from self.find_route(origin, key, search)
        if not source.is_gone:
            if cache.changes == changes:
                cache.offer(origin.routes, key, route)
            self._send(source, message, route, key, reliable)

    def _send(self, source: Face, message: Push, route: Route, key: str, reliable: bool) -> None:
        faces = route.faces
        count = len(faces)
        if count == 0 or (count == 1 and faces[0] is source):
            return
        if self._hlc is not None:
            stamped = self._stamp(message)
            if stamped is None:
                return
            message = stamped
        # The Timestamp extension does not survive a fork (§4.2).
        timestamp = message.timestamp if count == 1 else None
        exprs = route.exprs
        for index in range(count):
            face = faces[index]
            if face is source:
                continue
            stamps = message.stamps
            if stamps is not None:
                stamps = self._stamper.stamp(stamps, ROUTE)
            elif face.is_local:
                face.outlet.push(message, key, reliable)
                continue
            copy = message.copy()
            if not face.is_local:
                copy.key = exprs[index]
            copy.timestamp = timestamp
            copy.node_id = route.node_id if face.region is route.region else None
            copy.stamps = stamps
            face.outlet.push(copy, key, reliable)

    def only_destination(self, source: Face, key: str) -> Route | None:
        """The route of all publications on a key, if it leads to one link and changes nothing."""
        if self._hlc is not None:
            return None
        route = source.origin.routes.get(key)
        if route is None or len(route.faces) != 1 or route.faces[0].is_local:
            return None
        return route

    def sole_gateway(self, source: Face) -> Face | None:
        """The only neighbour, if it gets all publications of `source` unchanged.

        A client has such a neighbour, its router, until it sends an interest in subscribers.
        """
        found: Face | None = None
        if self._hlc is not None:
            return None
        for region in self._tables.regions:
            for face in region.faces:
                if face is source:
                    continue
                if found is not None or face.position != ABOVE or face.is_multicast:
                    return None
                found = face
        if found is None or found.answered[SUBSCRIBER] or found.has_aliases():
            return None
        return found

    def find_route(
        self, origin: Origin, key: str, search: Search[Entity], notes: RouteNotes | None = None
    ) -> Generator[None, None, Route]:
        """The route of a key with many subscribers, in several slices; `notes` gets the reasons."""
        work = self._tables.work
        yield from work.finish_search(search)
        chosen: dict[Face, None] = {}
        barred = self._tables.barred_region(key)
        for entity in search.found:
            self._choose_holders(origin, barred, entity, chosen, notes)
            work.steps -= len(entity.holders)
            if work.steps <= 0:
                yield
        return self._finish_route(origin, key, chosen, notes)

    def _make_route(self, origin: Origin, key: str, subscribers: list[Entity]) -> Route:
        """The route of a key whose matching subscribers are known, in one go."""
        chosen: dict[Face, None] = {}
        barred = self._tables.barred_region(key)
        for entity in subscribers:
            self._choose_holders(origin, barred, entity, chosen, None)
        return self._finish_route(origin, key, chosen, None)

    def _choose_holders(
        self,
        origin: Origin,
        barred: Region | None,
        entity: Entity,
        chosen: dict[Face, None],
        notes: RouteNotes | None,
    ) -> None:
        for face in entity.holders.each():
            if face.is_gone:
                continue
            hop: Face | None = None
            if barred is not None and crosses(origin, face, barred):
                if notes is not None:
                    notes.add(NOT_ELECTED, face, entity.key, None)
                continue
            if face.position == BESIDE:
                hop = self._tables.next_hop(origin, face)
            elif may_reach(origin, face):
                hop = face
            if hop is not None:
                chosen[hop] = None
            if notes is not None:
                notes.add(verdict_of(origin, face, hop), face, entity.key, hop)

    def _finish_route(
        self, origin: Origin, key: str, chosen: dict[Face, None], notes: RouteNotes | None
    ) -> Route:
        """Add faces that may have unknown subscribers, and leave out faces that are gone."""
        for other in self._tables.regions:
            if other is not origin.region:
                for face in other.unasked:
                    if is_unknown(face, SUBSCRIBER, key):
                        chosen[face] = None
                        if notes is not None:
                            notes.add(UNKNOWN, face, "", face)
        if not chosen:
            return _NOWHERE
        faces = [face for face in chosen if not face.is_gone]
        plain = WireExpr(0, key)
        exprs = [face.shortest(key) if face.has_aliases() else plain for face in faces]
        return Route(faces, exprs, origin.node_id, origin.region)

    def _stamp(self, message: Push) -> Push | None:
        """The message with a valid timestamp, None if it must be dropped."""
        put = message.body
        if not isinstance(put, Put) or self._hlc is None or self._wall_ns is None:
            return message
        wall = ntp64_of_ns(self._wall_ns())
        if put.timestamp is not None:
            if self._hlc.update(put.timestamp.time, wall):
                return message
            self._tables.counters.future_timestamps += 1
            if self._tables.settings.drop_future_timestamp:
                return None
        stamped = message.copy()
        stamped_put = put.copy()
        stamped_put.timestamp = self._hlc.new(wall)
        stamped.body = stamped_put
        return stamped


def may_reach(origin: Origin, face: Face) -> bool:
    """Whether messages of an origin may go to a neighbour that is no node of a network."""
    region = origin.region
    if origin.reach == NOWHERE or (face.region is region and not region.relays):
        return False
    return face.is_reached_from(origin)


def crosses(origin: Origin, face: Face, region: Region) -> bool:
    """Whether messages of an origin would enter or leave a region on their way to a face."""
    return (origin.region is region) != (face.region is region)


def verdict_of(origin: Origin, holder: Face, hop: Face | None) -> str:
    """The verdict about a holder, given the neighbour that leads to it."""
    if hop is not None:
        return SENT
    if holder.position == BESIDE:
        return NO_WAY if origin.reach == ANYWHERE else OTHER_GATEWAY
    return SAME_REGION if holder.region is origin.region else OTHER_GATEWAY


def is_unknown(face: Face, kind: int, key: str) -> bool:
    """Whether a face may have matching entities that it has not declared to us.

    A node above, unless it has answered an interest in exactly this key (or in all keys);
    an equal peer until its initial declarations are complete; a group for ever.
    """
    if face.is_multicast:
        return kind == SUBSCRIBER
    if face.position == EQUAL:
        return not face.is_informed
    return face.position == ABOVE and not face.has_declared_all(kind, key)
