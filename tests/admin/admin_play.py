"""The admin space on a dispatcher without links: scripted queries and their replies."""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.routing.playbook import Play, zid_of
from zenlake.admin.facts import SessionEntry, TransportFacts
from zenlake.admin.query import AdminQuery
from zenlake.admin.settings import AdminSettings
from zenlake.admin.space import AdminSpace
from zenlake.routing.face import Face
from zenlake.wire import (
    Encoding,
    Err,
    Put,
    Query,
    QueryTarget,
    Request,
    Response,
    ResponseFinal,
    WhatAmI,
    WireExpr,
    ZenohId,
)


class FakeTransport:
    def __init__(self, name: str) -> None:
        self.name = name

    def session(self) -> SessionEntry:
        links = [("tcp/127.0.0.1:1", "tcp/127.0.0.1:2")]
        return SessionEntry(zid_of(self.name), WhatAmI.CLIENT, "south:0:client", None, links)

    def counters(self) -> dict[str, object]:
        kinds = {"push": {"messages": 2, "bytes": 30}}
        return {
            "zid": str(zid_of(self.name)),
            "whatami": "client",
            "in": {"by_kind": kinds},
            "drops": {"dropped_messages": 7, "stale_frames": 2, "ignored_messages": 0},
            "queued_bytes": 5,
            "round_trip_us": None,
        }


class FakeFacts:
    def __init__(self) -> None:
        self.names: list[str] = []
        self.members: list[SessionEntry] = []
        self.drops: dict[Face, dict[str, int]] = {}
        """The drops of groups and their members, by face."""

    def locators(self) -> list[str]:
        return ["tcp/10.0.0.1:7447"]

    def transports(self) -> list[TransportFacts]:
        return [FakeTransport(name) for name in self.names]

    def transport_with(self, zid: ZenohId) -> TransportFacts | None:
        found = [name for name in self.names if zid_of(name) == zid]
        return FakeTransport(found[0]) if found else None

    def group_members(self) -> list[SessionEntry]:
        return self.members

    def group_drops(self, face: Face) -> dict[str, int] | None:
        return self.drops.get(face)

    def counters(self) -> dict[str, object]:
        return {"transports": len(self.names)}


class Answer:
    """One reply: its payload is JSON, text, or compressed text."""

    def __init__(self, response: Response) -> None:
        assert not isinstance(response.body, Err)
        body = response.body.body
        assert isinstance(body, Put)
        self.encoding = str(body.encoding or Encoding(0))
        self.payload = body.payload
        self.response = response

    @property
    def json(self) -> Any:
        assert self.encoding == "application/json"
        return json.loads(self.payload)

    @property
    def text(self) -> str:
        if self.encoding.endswith("gzip"):
            return gzip.decompress(self.payload).decode()
        return self.payload.decode()


class AdminPlay(Play):
    """A play with an admin space; its key begins with `root`."""

    def __init__(self, role: str = "peer", **settings: Any) -> None:
        super().__init__(role)
        self.facts = FakeFacts()
        self.long: list[AdminQuery] = []
        self.reports: list[str] = []
        self.space = AdminSpace(
            self.dispatcher,
            AdminSettings(enabled=True, **settings),
            self.facts,
            self.long.append,
            self.reports.append,
        )
        self.root = f"@/{self.dispatcher.zid}/{role}"
        self._request_id = 0

    def asks(self, name: str, selector: str, target: QueryTarget | None = None) -> int:
        self._request_id += 1
        key, _, parameters = selector.partition("?")
        query = Query(parameters=parameters or None)
        self.sends(name, Request(self._request_id, WireExpr(0, key), query, target=target))
        return self._request_id

    def goes_on(self, steps: int) -> None:
        """Run one slice of each long answer."""
        self.long[:] = [query for query in self.long if not self.space.resume(query, steps)]

    def answers(self, name: str, request_id: int) -> dict[str, Answer]:
        """The replies to one query by key; checks that the final is last."""
        *responses, last = self.received(name)
        assert isinstance(last, ResponseFinal)
        assert last.request_id == request_id
        answers: dict[str, Answer] = {}
        for response in responses:
            assert isinstance(response, Response)
            assert response.request_id == request_id
            assert response.key.suffix not in answers
            answers[response.key.suffix] = Answer(response)
        return answers

    def get(self, name: str, selector: str, target: QueryTarget | None = None) -> dict[str, Answer]:
        """Send a query, and return all its replies."""
        request_id = self.asks(name, selector, target)
        for other in list(self.faces):
            if other != name:
                for message in self.received(other):
                    if isinstance(message, Request):
                        self.sends(other, ResponseFinal(message.request_id))
        while self.long:
            self.goes_on(self.slice_steps)
        return self.answers(name, request_id)

    def keys(self, name: str, selector: str) -> list[str]:
        """The keys of the answer below `root`, sorted."""
        return sorted(key.removeprefix(self.root) for key in self.get(name, selector))
