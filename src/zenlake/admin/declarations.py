"""`subscriber/<ke>`, `queryable/<ke>` and `token/<ke>`: what is declared, and by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.admin.query import JSON, AdminQuery
from zenlake.admin.sources import Sources
from zenlake.keyexpr.prefix import remainders

if TYPE_CHECKING:
    from zenlake.routing.entity import Entity
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job


class Declarations:
    """The declarations of one kind."""

    __slots__ = ("_prefix", "_tables", "kind", "pattern")

    def __init__(self, root: str, name: str, kind: int, tables: Tables) -> None:
        self._prefix = f"{root}/{name}"
        self.pattern = f"{self._prefix}/**"
        self.kind = kind
        self._tables = tables

    def answer(self, query: AdminQuery) -> Job:
        table = self._tables.entities[self.kind]
        work = self._tables.work
        expressions = remainders(query.key, self._prefix)
        if not expressions:
            # The selector ends with the prefix, and `**` may stand for no chunk at all.
            everything = table.get("**")
            if everything is not None:
                yield from self._reply(query, everything)
            return
        known: set[str] = set()
        for expression in expressions:
            search = table.search(expression)
            yield from work.finish_search(search)
            for entity in search.found:
                if entity.key in known:
                    continue
                if len(expressions) > 1:
                    known.add(entity.key)
                yield from self._reply(query, entity)
                if work.steps <= 0:
                    yield

    def _reply(self, query: AdminQuery, entity: Entity) -> Job:
        """An entity may have ended since it was found, and may have any number of holders."""
        work = self._tables.work
        sources = Sources(self._tables.zid, self._tables.role)
        is_known = is_below = False
        for face in list(entity.holders):
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
            query.reply(f"{self._prefix}/{entity.key}", sources.to_json(), JSON)
