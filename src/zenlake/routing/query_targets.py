"""`QueryTargets`: which faces a query goes to (§4.5)."""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr.matching import includes
from zenlake.limits import CACHED_ROUTES_MAX
from zenlake.routing.entity import QUERYABLE
from zenlake.routing.face import Face
from zenlake.routing.publications import is_unknown
from zenlake.routing.region import Region
from zenlake.routing.tables import Tables
from zenlake.routing.work import MESSAGE_STEPS, Job
from zenlake.wire.values.choices import QueryTarget

_INCOMPLETE: Final = 0
_COMPLETE: Final = 1
_UNKNOWN: Final = 2
"""It may have queryables that it has not told us of."""


class QueryTargets:
    __slots__ = ("_tables",)

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def remembered(self, source: Face, key: str, target: QueryTarget | None) -> list[Face] | None:
        """The choice for a valid key if it was made since anything changed."""
        if (
            source.targets_version != self._tables.version
            or len(source.targets) >= CACHED_ROUTES_MAX
        ):
            source.targets.clear()
            source.targets_version = self._tables.version
            return None
        return source.targets.get((key, -1 if target is None else int(target)))

    def select(
        self, source: Face, key: str, target: QueryTarget | None, selected: list[Face]
    ) -> Job:
        """Put the choice for a valid key into `selected`; it is remembered until anything changes.

        A face may end while the choice is made: the caller leaves out those that are gone.
        """
        known: dict[Face, int] = {}
        yield from self._find_known(key, known)
        self._choose(source, key, target, known, selected)
        if source.targets_version == self._tables.version:
            source.targets[(key, -1 if target is None else int(target))] = selected

    def _choose(
        self,
        source: Face,
        key: str,
        target: QueryTarget | None,
        known: dict[Face, int],
        selected: list[Face],
    ) -> None:
        """The choice is made in each region by itself, the nearest faces first."""
        for region in self._tables.regions:
            if region is source.region and not region.relays:
                continue
            candidates = self._candidates(region, source, key, known)
            if target == QueryTarget.ALL:
                selected.extend(candidates)
            elif target == QueryTarget.ALL_COMPLETE:
                selected.extend(face for face, how in candidates.items() if how != _INCOMPLETE)
            else:
                selected.extend(_best(candidates))

    def _find_known(self, key: str, known: dict[Face, int]) -> Job:
        """The faces with a matching queryable: whether one of them is complete for the key."""
        work = self._tables.work
        search = self._tables.entities[QUERYABLE].search(key)
        while not work.search(search):
            yield
        for entity in search.found:
            for face, holding in entity.holders.items():
                if face.is_gone:
                    continue
                if holding.info.complete and includes(entity.key, key):
                    known[face] = _COMPLETE
                else:
                    known.setdefault(face, _INCOMPLETE)
            work.steps -= MESSAGE_STEPS
            if work.steps <= 0:
                yield

    def _candidates(
        self, region: Region, source: Face, key: str, known: dict[Face, int]
    ) -> dict[Face, int]:
        """Faces of one region; all are one hop away, so any order is one by distance."""
        candidates = {
            face: how
            for face, how in known.items()
            if face.region is region and face is not source and not face.is_gone
        }
        if region is not source.region:
            for face in region.unasked:
                if is_unknown(face, QUERYABLE, key) and candidates.get(face) != _COMPLETE:
                    candidates[face] = _UNKNOWN
        return candidates


def _best(candidates: dict[Face, int]) -> list[Face]:
    """The nearest complete one; if none is complete, all of them."""
    for face, how in candidates.items():
        if how == _COMPLETE:
            return [face]
    return list(candidates)
