"""`Explainer`: where a message would go and why, decided by the code that routes (§4.2, §4.5)."""

from __future__ import annotations

from collections.abc import Generator

from zenlake.routing.declarations.entity import SUBSCRIBER
from zenlake.routing.face import Face
from zenlake.routing.forwarding.origin import Origin
from zenlake.routing.forwarding.publications import PublicationForwarder
from zenlake.routing.forwarding.query_targets import QueryTargets, select
from zenlake.routing.forwarding.route import QueryRoute
from zenlake.routing.forwarding.route_notes import (
    IS_SOURCE,
    NOT_COMPLETE,
    OTHER_IS_BEST,
    RouteNotes,
)
from zenlake.routing.region import BESIDE
from zenlake.routing.tables import Tables
from zenlake.wire.values.choices import QueryTarget
from zenlake.wire.values.zenoh_id import ZenohId


class RouteExplanation:
    """The neighbours that get a message, and the decision about each candidate."""

    __slots__ = ("faces", "notes", "root", "source")

    def __init__(self, source: Face, root: ZenohId | None) -> None:
        self.source = source
        self.root = root
        """The router whose tree it follows; None where there is no such tree."""

        self.faces: list[Face] = []
        self.notes = RouteNotes()


class Explainer:
    """Explains routes; it sends nothing and caches nothing."""

    __slots__ = ("_publications", "_tables")

    def __init__(self, tables: Tables, publications: PublicationForwarder) -> None:
        self._tables = tables
        self._publications = publications

    def explain_publication(
        self, source: Face, root: ZenohId | None, key: str
    ) -> Generator[None, None, RouteExplanation]:
        """Explain a valid key. `root` is the router where it entered, if a router is the source."""
        search = self._tables.entities[SUBSCRIBER].search(key)
        origin = self._origin_of(source, root)
        explained = RouteExplanation(source, self._root_of(origin))
        route = yield from self._publications.find_route(origin, key, search, explained.notes)
        explained.faces = [face for face in route.faces if face is not source]
        self._note_source(explained)
        return explained

    def explain_query(
        self, source: Face, root: ZenohId | None, key: str, target: QueryTarget | None
    ) -> Generator[None, None, RouteExplanation]:
        """Explain a query on a valid key, like a publication."""
        origin = self._origin_of(source, root)
        explained = RouteExplanation(source, self._root_of(origin))
        found: list[QueryRoute] = []
        targets = QueryTargets(self._tables)
        yield from targets.make_route(origin, key, found, explained.notes)
        selected = select(found[0], target, source)
        explained.faces = list(selected)
        self._note_source(explained)
        is_for_complete = target == QueryTarget.ALL_COMPLETE
        for note in explained.notes.notes:
            # The target of the query left these candidates out.
            if note.hop is not None and note.hop is not source and note.hop not in selected:
                verdict = NOT_COMPLETE if is_for_complete else OTHER_IS_BEST
                explained.notes.judge(note, verdict)
        return explained

    def _origin_of(self, source: Face, root: ZenohId | None) -> Origin:
        """The origin of messages that come from `source`; a new one is not kept."""
        sourced = source.region.sourced
        if source.position != BESIDE or sourced is None:
            return source.origin
        zid = source.zid if root is None else root
        known = sourced.known_source(zid)
        if known is not None:
            return known.origin
        return Origin(source.region, zid)

    def _root_of(self, origin: Origin) -> ZenohId | None:
        if self._tables.north.sourced is None:
            return None
        return self._tables.zid if origin.root is None else origin.root

    def _note_source(self, explained: RouteExplanation) -> None:
        for note in explained.notes.notes:
            if note.hop is explained.source:
                explained.notes.judge(note, IS_SOURCE)
