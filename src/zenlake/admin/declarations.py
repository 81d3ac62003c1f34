"""`subscriber/<ke>`, `queryable/<ke>` and `token/<ke>`: declarations and their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.admin.by_key import ByKey
from zenlake.admin.query import AdminQuery
from zenlake.admin.sources import Sources

if TYPE_CHECKING:
    from zenlake.keyexpr.search import Search
    from zenlake.routing.declarations.entity import Entity
    from zenlake.routing.work import Job


class DeclarationsTopic(ByKey["Entity"]):
    """The declarations of one kind."""

    __slots__ = ()

    def get(self, expression: str) -> Entity | None:
        return self._tables.entities[self.kind].get(expression)

    def search(self, expression: str) -> Search[Entity] | None:
        return self._tables.entities[self.kind].search(expression)

    def key_of(self, found: Entity) -> str | None:
        return found.key

    def reply(self, query: AdminQuery, key: str, found: Entity) -> Job:
        """Reply with the holders of an entity, which may be many; it may have ended meanwhile."""
        work = self._tables.work
        sources = Sources(self._tables.zid, self._tables.role)
        is_known = is_below = False
        for face in list(found.holders):
            if not face.is_gone:
                sources.add(face)
                is_known = True
                is_below = is_below or not face.region.is_north
            work.steps -= 1
            if work.steps <= 0:
                yield
        if is_below:
            sources.add_own()
        if is_known:
            query.reply_json(f"{self.prefix}/{key}", sources.to_json())
