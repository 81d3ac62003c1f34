"""`linkstate/<region>`: the nodes of a region, as Graphviz text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from zenlake.admin.query import TEXT, AdminQuery
from zenlake.routing.network.report import graph_lines, link_weight
from zenlake.wire import WhatAmI, ZenohId

if TYPE_CHECKING:
    from zenlake.routing.region import Region
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job

_LINE_STEPS: Final = 2


class Graph:
    """The topic `linkstate/<region>`. Clients have none; peers without a network show no links."""

    __slots__ = ("_prefix", "_tables", "pattern")

    def __init__(self, root: str, tables: Tables) -> None:
        self._prefix = f"{root}/linkstate"
        self.pattern = f"{self._prefix}/*"
        self._tables = tables

    def answer(self, query: AdminQuery) -> Job:
        work = self._tables.work
        for region in self._tables.regions:
            key = f"{self._prefix}/{region.name}"
            if not self._has_graph(region) or not query.concerns(key):
                continue
            lines: list[str] = []
            for line in self._lines(region):
                lines.append(line)
                work.steps -= _LINE_STEPS
                if work.steps <= 0:
                    yield
            text = "\n".join([*lines, ""]) if lines else "graph {}"
            query.reply(key, text.encode(), TEXT)

    def _has_graph(self, region: Region) -> bool:
        if region.is_north:
            return self._tables.role != WhatAmI.CLIENT
        return region.name.endswith(":peer")

    def _lines(self, region: Region) -> Iterator[str]:
        tables = self._tables
        if region.sourced is not None:
            yield from graph_lines(region.sourced.network)
        elif tables.settings.gossip or tables.role == WhatAmI.ROUTER:
            # Official peers without gossip have an empty graph; routers always have one.
            yield "graph {"
            zids = [face.zid for face in region.faces if not face.is_multicast]
            for index, zid in enumerate([tables.zid, *zids]):
                yield f'    {index} [ label = "{zid}" ]'
            yield "}"


def weight_of(tables: Tables, zid: ZenohId) -> dict[str, int | None] | None:
    """The weights of the link to a node of a network; None if its links have no weights."""
    for region in tables.regions:
        if region.sourced is not None:
            weight = link_weight(region.sourced.network, zid)
            if weight is not None:
                return weight._asdict()
    return None
