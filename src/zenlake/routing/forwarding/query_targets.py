"""`QueryTargets`: which faces a query goes to (§4.5)."""

from __future__ import annotations

from zenlake.keyexpr.matching import includes
from zenlake.routing.declarations.entity import QUERYABLE, Entity
from zenlake.routing.face import Face
from zenlake.routing.forwarding.origin import Origin
from zenlake.routing.forwarding.publications import crosses, is_unknown, may_reach, verdict_of
from zenlake.routing.forwarding.route import (
    COMPLETE,
    INCOMPLETE,
    UNKNOWN,
    QueryCandidate,
    QueryRoute,
)
from zenlake.routing.forwarding.route_notes import NOT_ELECTED, RouteNotes
from zenlake.routing.forwarding.route_notes import UNKNOWN as NOTE_UNKNOWN
from zenlake.routing.region import BESIDE, Region
from zenlake.routing.tables import Tables
from zenlake.routing.work import MESSAGE_STEPS, Job
from zenlake.wire.values.choices import QueryTarget
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId


class QueryTargets:
    __slots__ = ("_tables",)

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def find(self, origin: Origin, key: str, found: list[QueryRoute]) -> Job:
        """Put the route of queries on a valid key into `found`, and cache it.

        A face may end meanwhile: the caller leaves out those that are gone.
        """
        cache = self._tables.query_routes
        changes = cache.changes
        yield from self.make_route(origin, key, found)
        if cache.changes == changes:
            cache.offer(origin.query_routes, key, found[0])

    def make_route(
        self,
        origin: Origin,
        key: str,
        found: list[QueryRoute],
        notes: RouteNotes | None = None,
    ) -> Job:
        """Put the route into `found` without caching it; `notes` gets the reasons."""
        known: dict[Face, QueryCandidate] = {}
        yield from self._find_known(origin, key, known, notes)
        route = QueryRoute(origin.node_id, origin.region)
        for region in self._tables.regions:
            candidates = self._candidates(region, origin, key, known, notes)
            if candidates:
                route.regions.append(candidates)
        found.append(route)

    def _find_known(
        self,
        origin: Origin,
        key: str,
        known: dict[Face, QueryCandidate],
        notes: RouteNotes | None,
    ) -> Job:
        """The faces with a matching queryable that queries from `origin` may go to."""
        work = self._tables.work
        search = self._tables.entities[QUERYABLE].search(key)
        while not work.search(search):
            yield
        barred = self._tables.barred_region(key)
        for entity in search.found:
            self._add_holders(origin, barred, entity, key, known, notes)
            work.steps -= MESSAGE_STEPS
            if work.steps <= 0:
                yield

    def _add_holders(
        self,
        origin: Origin,
        barred: Region | None,
        entity: Entity,
        key: str,
        known: dict[Face, QueryCandidate],
        notes: RouteNotes | None,
    ) -> None:
        for face in entity.holders.each():
            if face.is_gone:
                continue
            if barred is not None and crosses(origin, face, barred):
                if notes is not None:
                    notes.add(NOT_ELECTED, face, entity.key, None)
                continue
            candidate = known.get(face)
            if candidate is None and _may_ask(origin, face):
                candidate = self._candidate(origin, face)
            is_complete = entity.holders.require(face).info.complete and includes(entity.key, key)
            if notes is not None:
                hop = None if candidate is None else candidate.face
                notes.add(verdict_of(origin, face, hop), face, entity.key, hop, is_complete)
            if candidate is not None:
                known[face] = candidate
                if is_complete:
                    candidate.knowledge = COMPLETE

    def _candidate(self, origin: Origin, holder: Face) -> QueryCandidate | None:
        """A holder of a queryable, None if no path leads to it."""
        sourced = holder.region.sourced
        if holder.position != BESIDE or sourced is None:
            return QueryCandidate(holder, INCOMPLETE, 1)
        hop = self._tables.next_hop(origin, holder)
        distance = sourced.network.distance(holder.zid)
        if hop is None or distance is None:
            return None
        return QueryCandidate(hop, INCOMPLETE, distance)

    def _candidates(
        self,
        region: Region,
        origin: Origin,
        key: str,
        known: dict[Face, QueryCandidate],
        notes: RouteNotes | None,
    ) -> list[QueryCandidate]:
        """Faces of one region, the nearest first."""
        candidates = [one for one in known.values() if one.face.region is region]
        if region is not origin.region:
            for face in region.unasked:
                if is_unknown(face, QUERYABLE, key):
                    if notes is not None:
                        notes.add(NOTE_UNKNOWN, face, "", face)
                    candidate = known.get(face)
                    if candidate is None:
                        candidates.append(QueryCandidate(face, UNKNOWN, 1))
                    elif candidate.knowledge != COMPLETE:
                        candidate.knowledge = UNKNOWN
        if len(candidates) > 1:
            if region.is_north and self._tables.role == WhatAmI.PEER:
                # Only one of several gateways carries queries with a target other than all (§4.4).
                candidates.sort(key=_zid_of, reverse=True)
            candidates.sort(key=_distance_of)
        return candidates


def _may_ask(origin: Origin, holder: Face) -> bool:
    """Whether queries of an origin may go to a holder of a queryable."""
    return holder.position == BESIDE or may_reach(origin, holder)


def _zid_of(candidate: QueryCandidate) -> ZenohId:
    return candidate.face.zid


def _distance_of(candidate: QueryCandidate) -> int:
    return candidate.distance


def select(route: QueryRoute, target: QueryTarget | None, source: Face) -> dict[Face, None]:
    """The faces that a query goes to: the choice is made in each region by itself.

    Several routers may be reached by way of the same neighbour, which is asked once.
    """
    selected: dict[Face, None] = {}
    for candidates in route.regions:
        if target == QueryTarget.ALL:
            _add_all(selected, candidates, source)
        elif target == QueryTarget.ALL_COMPLETE:
            for one in candidates:
                if one.knowledge != INCOMPLETE and _is_possible(one.face, source):
                    selected[one.face] = None
        else:
            _add_best(selected, candidates, source)
    return selected


def _add_best(selected: dict[Face, None], candidates: list[QueryCandidate], source: Face) -> None:
    """The nearest complete one; if none is complete, all of them."""
    for one in candidates:
        if one.knowledge == COMPLETE and _is_possible(one.face, source):
            selected[one.face] = None
            return
    _add_all(selected, candidates, source)


def _add_all(selected: dict[Face, None], candidates: list[QueryCandidate], source: Face) -> None:
    for one in candidates:
        if _is_possible(one.face, source):
            selected[one.face] = None


def _is_possible(face: Face, source: Face) -> bool:
    return face is not source and not face.is_gone
