"""The root key: the node, and its sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from zenlake.admin.facts import NodeFacts, SessionEntry
from zenlake.admin.graph import weight_of
from zenlake.admin.query import AdminQuery
from zenlake.admin.version import version_text

if TYPE_CHECKING:
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job

_SESSION_STEPS: Final = 24


class Root:
    __slots__ = ("_facts", "_metadata", "_tables", "pattern")

    def __init__(self, root: str, metadata: object, tables: Tables, facts: NodeFacts) -> None:
        self.pattern = root
        self._metadata = metadata
        self._tables = tables
        self._facts = facts

    def answer(self, query: AdminQuery) -> Job:
        work = self._tables.work
        sessions: list[str] = []
        for transport in self._facts.transports():
            sessions.append(self._session(transport.session()))
            work.steps -= _SESSION_STEPS
            if work.steps <= 0:
                yield
        for member in self._facts.group_members():
            sessions.append(self._session(member))
        own = {
            "locators": self._facts.locators(),
            "metadata": self._metadata,
            "plugins": None,
            "version": version_text(),
            "zid": str(self._tables.zid),
        }
        text = f'{_json(own)[:-1]},"sessions":[{",".join(sessions)}]}}'
        query.reply_json(self.pattern, text)

    def _session(self, session: SessionEntry) -> str:
        shown: dict[str, object] = {
            "peer": str(session.zid),
            "whatami": str(session.whatami),
            "links": [{"src": src, "dst": dst} for src, dst in session.links],
        }
        if session.group is not None:
            shown["group"] = session.group
        else:
            shown["region"] = session.region
            shown["shm"] = False
            shown["weight"] = weight_of(self._tables, session.zid)
        return _json(shown)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
