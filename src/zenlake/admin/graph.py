"""`linkstate/<region>`: the nodes of a region, as Graphviz text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.admin.query import TEXT, AdminQuery
from zenlake.wire import WhatAmI, ZenohId

if TYPE_CHECKING:
    from zenlake.routing.region import Region
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job


class Graph:
    """Regions of clients have no graph; peers do not tell each other who they are linked to."""

    __slots__ = ("_prefix", "_tables", "pattern")

    def __init__(self, root: str, tables: Tables) -> None:
        self._prefix = f"{root}/linkstate"
        self.pattern = f"{self._prefix}/*"
        self._tables = tables

    def answer(self, query: AdminQuery) -> Job:
        tables = self._tables
        for region in tables.regions:
            key = f"{self._prefix}/{region.name}"
            if self._has_graph(region) and query.concerns(key):
                nodes = [str(tables.zid)] if self._is_kept() else []
                for face in list(region.faces) if nodes else []:
                    if not face.is_multicast:
                        nodes.append(str(face.zid))
                    tables.work.steps -= 1
                    if tables.work.steps <= 0:
                        yield
                query.reply(key, graph_text(nodes).encode(), TEXT)

    def _is_kept(self) -> bool:
        """Official peers without gossip have an empty graph; routers always have one."""
        return self._tables.settings.gossip or self._tables.role == WhatAmI.ROUTER

    def _has_graph(self, region: Region) -> bool:
        if region.is_north:
            return self._tables.role != WhatAmI.CLIENT
        return region.name.endswith(":peer")


def graph_text(nodes: list[str]) -> str:
    if not nodes:
        return "graph {}"
    lines = [f'    {index} [ label = "{node}" ]' for index, node in enumerate(nodes)]
    return "\n".join(["graph {", *lines, "}", ""])


def weight_of(tables: Tables, zid: ZenohId) -> dict[str, int | None] | None:
    """The weights of the link to a router; None where links have none."""
    return None
