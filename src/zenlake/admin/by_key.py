"""`ByKey`: the part of the admin space that has a key for each expression in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from zenlake.keyexpr.prefix import remainders

if TYPE_CHECKING:
    from zenlake.admin.query import AdminQuery
    from zenlake.keyexpr.search import Search
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job

T = TypeVar("T")


class ByKey(Generic[T]):
    """`<name>/<expression>` for each entry of a table; derived classes define the table."""

    __slots__ = ("_tables", "kind", "pattern", "prefix")

    def __init__(self, root: str, name: str, kind: int, tables: Tables) -> None:
        self.prefix = f"{root}/{name}"
        self.pattern = f"{self.prefix}/**"
        self.kind = kind
        self._tables = tables

    def answer(self, query: AdminQuery) -> Job:
        expressions = remainders(query.key, self.prefix)
        if not expressions:
            # The selector ends with the prefix, and `**` may match no chunk at all.
            everything = self.get("**")
            if everything is not None:
                yield from self.reply(query, "**", everything)
            return
        work = self._tables.work
        known: set[str] = set()
        for expression in expressions:
            search = self.search(expression)
            if search is None:
                return
            yield from work.finish_search(search)
            for found in search.found:
                key = self.key_of(found)
                if key is None or key in known:
                    continue
                if len(expressions) > 1:
                    known.add(key)
                yield from self.reply(query, key, found)
                if work.steps <= 0:
                    yield

    def get(self, expression: str) -> T | None:
        """The entry with exactly this expression."""
        raise NotImplementedError

    def search(self, expression: str) -> Search[T] | None:
        """A search for the entries that intersect it; None if the table is empty."""
        raise NotImplementedError

    def key_of(self, found: T) -> str | None:
        """The expression of an entry; None if it was removed since it was found."""
        raise NotImplementedError

    def reply(self, query: AdminQuery, key: str, found: T) -> Job:
        raise NotImplementedError
