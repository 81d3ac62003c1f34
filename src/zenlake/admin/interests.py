"""`publisher/<ke>` and `querier/<ke>`: who publishes or asks, as far as it said so.

Publishers and queriers are not declared; a node that has one asks the node above it who would
hear it (behaviour reference §3.2). So these are the interests of nodes below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.admin.query import JSON, AdminQuery
from zenlake.admin.sources import Sources
from zenlake.keyexpr.prefix import remainders

if TYPE_CHECKING:
    from zenlake.routing.interest import DownInterest
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job


class Interests:
    """The interests in declarations of one kind."""

    __slots__ = ("_prefix", "_tables", "kind", "pattern")

    def __init__(self, root: str, name: str, kind: int, tables: Tables) -> None:
        self._prefix = f"{root}/{name}"
        self.pattern = f"{self._prefix}/**"
        self.kind = kind
        self._tables = tables

    def answer(self, query: AdminQuery) -> Job:
        work = self._tables.work
        expressions = remainders(query.key, self._prefix)
        if not expressions:
            # The selector ends with the prefix, and `**` may stand for no chunk at all.
            everything = self._tables.interests.get(self.kind, "**")
            if everything is not None:
                yield from self._reply(query, "**", everything)
            return
        known: set[str] = set()
        for expression in expressions:
            search = self._tables.interests.search(self.kind, expression)
            if search is None:
                return
            yield from work.finish_search(search)
            for twins in search.found:
                key = _key_of(twins)
                if key is None or key in known:
                    continue
                if len(expressions) > 1:
                    known.add(key)
                yield from self._reply(query, key, twins)
                if work.steps <= 0:
                    yield

    def _reply(self, query: AdminQuery, key: str, twins: dict[DownInterest, None]) -> Job:
        work = self._tables.work
        sources = Sources(self._tables.zid, self._tables.role)
        for interest in list(twins):
            if not interest.face.is_gone:
                sources.add(interest.face)
            work.steps -= 1
            if work.steps <= 0:
                yield
        query.reply(f"{self._prefix}/{key}", sources.to_json(), JSON)


def _key_of(twins: dict[DownInterest, None]) -> str | None:
    """Interests in the same key; they may have ended since they were found."""
    for interest in twins:
        if not interest.face.is_gone:
            return interest.key
    return None
