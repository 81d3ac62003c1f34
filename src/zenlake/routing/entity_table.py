"""`EntityTable`: all entities of one kind, by key and by what a key matches."""

from __future__ import annotations

from zenlake.keyexpr.matching import includes
from zenlake.keyexpr.tree import KeyTree
from zenlake.routing.entity import Entity, better
from zenlake.routing.face import Face
from zenlake.wire.values.queryable_info import QueryableInfo


class EntityTable:
    __slots__ = ("_by_key", "_tree", "kind")

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self._by_key: dict[str, Entity] = {}
        self._tree: KeyTree[Entity] = KeyTree()

    def __len__(self) -> int:
        return len(self._by_key)

    def get(self, key: str) -> Entity | None:
        return self._by_key.get(key)

    def get_or_add(self, key: str) -> Entity:
        entity = self._by_key.get(key)
        if entity is None:
            entity = Entity(self.kind, key)
            self._by_key[key] = entity
            self._tree.insert(key, entity)
        return entity

    def discard_if_empty(self, entity: Entity) -> None:
        """Forget an entity that nobody holds and nobody was told of."""
        if not entity.holders and not entity.told:
            self._by_key.pop(entity.key, None)
            self._tree.remove(entity.key)

    def matching(self, key: str) -> list[Entity]:
        """All entities whose key intersects `key`; all there are for ""."""
        if not key:
            return list(self._by_key.values())
        if "*" in key:
            return self._tree.intersecting(key)
        return self._tree.match_key(key)

    def aggregate_for(self, face: Face, key: str) -> QueryableInfo | None:
        """What `face` hears of all entities that match `key` together (§3.6).

        The whole is complete only if one of them is complete for all of `key`.
        """
        merged: QueryableInfo | None = None
        for entity in self.matching(key):
            info = entity.info_for(face)
            if info is None:
                continue
            if info.complete and not includes(entity.key, key):
                info = QueryableInfo(False, info.distance)
            merged = better(merged, info)
        return merged
