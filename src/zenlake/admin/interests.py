"""`publisher/<ke>` and `querier/<ke>`: publishers and queriers, derived from interests.

Publishers and queriers are not declared; a node that has one sends an interest in matching
declarations to the node above it (behaviour reference §3.2). So these are the interests of nodes
below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.admin.by_key import ByKey
from zenlake.admin.query import AdminQuery
from zenlake.admin.sources import Sources

if TYPE_CHECKING:
    from zenlake.keyexpr.search import Search
    from zenlake.routing.declarations.interest import DownInterest
    from zenlake.routing.work import Job

    Twins = dict[DownInterest, None]
    """Interests in the same key."""


class InterestsTopic(ByKey["Twins"]):
    """The interests in declarations of one kind."""

    __slots__ = ()

    def get(self, expression: str) -> Twins | None:
        return self._tables.interests.get(self.kind, expression)

    def search(self, expression: str) -> Search[Twins] | None:
        return self._tables.interests.search(self.kind, expression)

    def key_of(self, found: Twins) -> str | None:
        for interest in found:
            if not interest.face.is_gone:
                return interest.key
        return None

    def reply(self, query: AdminQuery, key: str, found: Twins) -> Job:
        work = self._tables.work
        sources = Sources(self._tables.zid, self._tables.role)
        for interest in list(found):
            if not interest.face.is_gone:
                sources.add(interest.face)
            work.steps -= 1
            if work.steps <= 0:
                yield
        query.reply_json(f"{self.prefix}/{key}", sources.to_json())
