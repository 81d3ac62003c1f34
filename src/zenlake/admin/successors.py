"""`route/successor/src/<zid>/dst/<zid>`: next hops in the network of routers."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from zenlake.admin.query import AdminQuery
from zenlake.errors import LocalError
from zenlake.routing.network.report import successor, successors
from zenlake.wire import ZenohId

if TYPE_CHECKING:
    from zenlake.routing.network.network import Network
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job

_PAIR_STEPS: Final = 4


class Successors:
    __slots__ = ("_prefix", "_tables", "pattern")

    def __init__(self, root: str, tables: Tables) -> None:
        self._prefix = f"{root}/route/successor"
        self.pattern = f"{self._prefix}/**"
        self._tables = tables

    def answer(self, query: AdminQuery) -> Job:
        if self._tables.routers is None:
            return
        network = self._tables.routers.network
        if (yield from self._answer_one(query, network)):
            return
        work = self._tables.work
        for pair in successors(network):
            if pair is not None:
                key = f"{self._prefix}/src/{pair.source}/dst/{pair.destination}"
                if query.concerns(key):
                    query.reply_json(key, f'"{pair.successor}"')
                work.steps -= _PAIR_STEPS
            if pair is None or work.steps <= 0:
                yield

    def _answer_one(self, query: AdminQuery, network: Network) -> Generator[None, None, bool]:
        """The answer to a selector that names both nodes, without a scan of all pairs."""
        parts = query.key.removeprefix(self._prefix).split("/")
        if "*" in query.key or len(parts) != 5 or parts[1] != "src" or parts[3] != "dst":
            return False
        try:
            source, destination = ZenohId.parse(parts[2]), ZenohId.parse(parts[4])
        except LocalError:
            return True  # no node has such an id
        hop = yield from successor(network, source, destination)
        if hop is not None:
            query.reply_json(query.key, f'"{hop}"')
        return True
