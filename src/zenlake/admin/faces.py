"""`zenlake/node` and `zenlake/face/<zid>`: counters, which only zenlake has.

A face is a neighbour as routing sees it: one open transport.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from zenlake.admin.facts import NodeFacts
from zenlake.admin.query import AdminQuery

if TYPE_CHECKING:
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job


class NodeCounters:
    __slots__ = ("_facts", "_tables", "pattern")

    def __init__(self, root: str, tables: Tables, facts: NodeFacts) -> None:
        self.pattern = f"{root}/zenlake/node"
        self._tables = tables
        self._facts = facts

    def answer(self, query: AdminQuery) -> Job:
        counters = {
            **self._facts.counters(),
            "memory_bytes": self._tables.memory.held_bytes,
            "memory_bytes_max": self._tables.memory.limit_bytes,
            "refusals": self._tables.counters.as_dict(),
        }
        query.reply_json(self.pattern, json.dumps(counters))
        if self._tables.work.steps <= 0:
            yield


class FaceCounters:
    __slots__ = ("_facts", "_prefix", "_tables", "pattern")

    def __init__(self, root: str, tables: Tables, facts: NodeFacts) -> None:
        self._prefix = f"{root}/zenlake/face"
        self.pattern = f"{self._prefix}/*"
        self._tables = tables
        self._facts = facts

    def answer(self, query: AdminQuery) -> Job:
        for transport in self._facts.transports():
            key = f"{self._prefix}/{transport.session().zid}"
            if query.concerns(key):
                query.reply_json(key, json.dumps(transport.counters()))
            self._tables.work.steps -= 1
            if self._tables.work.steps <= 0:
                yield
