"""`EntityTable`: all entities of one kind, by key and by what a key matches."""

from __future__ import annotations

from zenlake.keyexpr.matching import includes
from zenlake.keyexpr.search import Search
from zenlake.keyexpr.tree import KeyTree
from zenlake.routing.declarations.entity import Entity
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
        """Remove an entity that no face holds or knows.

        A job may still refer to one that was removed before; its key may be declared again.
        """
        if not entity.holders and not entity.announced and self._by_key.get(entity.key) is entity:
            del self._by_key[entity.key]
            self._tree.remove(entity.key)

    def close(self) -> None:
        """Remove everything: nothing is routed any more."""
        for entity in self._by_key.values():
            entity.holders.clear()
            entity.announced.clear()
        self._by_key.clear()
        self._tree = KeyTree()

    def all(self) -> list[Entity]:
        return list(self._by_key.values())

    def search(self, key: str) -> Search[Entity]:
        """A search for all entities whose key intersects `key`."""
        return self._tree.search(key)


def in_aggregate(entity: Entity, face: Face, key: str) -> QueryableInfo | None:
    """The info that `entity` adds to the aggregate declaration on `key` to `face` (§3.6).

    The whole is complete only if one of them is complete for all of `key`.
    """
    info = entity.info_for(face)
    if info is not None and info.complete and not includes(entity.key, key):
        return QueryableInfo(False, info.distance)
    return info
