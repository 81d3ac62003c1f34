"""`zenlake/explain?key=...`: the destinations of a message from this node, and why.

    key     the key of the message, percent-encoded: parameters end at `;`
    from    the zid of a neighbour, or of this node; by default the requester
    query   true for a query, else it is a publication
    target  for a query: best_matching (default), all, all_complete
    root    the zid of the router where it entered the network, if it comes from a router

Without `key` there is no answer. The answer includes the losses counted so far: of each neighbour
that gets the message (`drops`), of the one it comes from (`source_drops`), and what routing refused
(`refusals`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from zenlake.admin.facts import NodeFacts
from zenlake.admin.query import AdminQuery
from zenlake.errors import KeyExprError, LocalError
from zenlake.keyexpr.canonical import validate
from zenlake.routing.face import Face
from zenlake.wire import QueryTarget, ZenohId

if TYPE_CHECKING:
    from zenlake.routing.dispatcher import Dispatcher
    from zenlake.routing.forwarding.explanation import RouteExplanation
    from zenlake.routing.forwarding.route_notes import Note
    from zenlake.routing.work import Job

_TARGETS: Final = {
    "best_matching": QueryTarget.BEST_MATCHING,
    "all": QueryTarget.ALL,
    "all_complete": QueryTarget.ALL_COMPLETE,
}
_DESTINATION_STEPS: Final = 24
_LOST_OUTWARD: Final = ("dropped_messages", "unsendable_messages", "dropped_datagrams")
_LOST_INWARD: Final = (
    "stale_frames",
    "dropped_fragments",
    "unfinished_messages",
    "ignored_messages",
)
"""Counters of a neighbour (node/stats.py) that explain why a message does not reach it, or why a
message from it does not reach routing."""

_REFUSED: Final = (
    "refused_declarations",
    "refused_aliases",
    "refused_interests",
    "refused_link_states",
    "invalid_keys",
    "unknown_aliases",
    "unknown_nodes",
)
_REFUSED_PUBLICATIONS: Final = (*_REFUSED, "future_timestamps")
_REFUSED_QUERIES: Final = (*_REFUSED, "refused_requests")
"""Counters of routing (routing/counters.py) that explain why a message, or a declaration that it
would match, is missing."""


class Explain:
    __slots__ = ("_dispatcher", "_facts", "_own_face", "pattern")

    def __init__(self, root: str, dispatcher: Dispatcher, facts: NodeFacts, own_face: Face) -> None:
        self.pattern = f"{root}/zenlake/explain"
        self._facts = facts
        self._dispatcher = dispatcher
        self._own_face = own_face

    def answer(self, query: AdminQuery) -> Job:
        parameters = query.parameters
        quoted = parameters.get("key")
        if quoted is None:
            return
        key = unquote(quoted)
        target = _TARGETS.get(parameters.get("target") or "best_matching")
        is_query = query.flag("query", False)
        try:
            validate(key)
            source = self._source(query)
            root = _zid_of(parameters.get("root"))
        except (KeyExprError, LocalError) as error:
            query.fail(str(error))
            return
        if target is None:
            query.fail(f"target is one of {', '.join(_TARGETS)}")
            return
        explainer = self._dispatcher.explainer
        if is_query:
            explained = yield from explainer.explain_query(source, root, key, target)
        else:
            explained = yield from explainer.explain_publication(source, root, key)
        work = self._dispatcher.tables.work
        destinations: list[dict[str, object]] = []
        for face in explained.faces:
            destinations.append(self._destination(face))
            work.steps -= _DESTINATION_STEPS
            if work.steps <= 0:
                yield
        shown = self._shown(explained)
        shown["sent_to"] = destinations
        shown["key"] = key
        shown["kind"] = "query" if is_query else "publication"
        shown["target"] = str(target).lower() if is_query else None
        shown["source_drops"] = self._drops(self._counters(explained.source), _LOST_INWARD)
        refused = _REFUSED_QUERIES if is_query else _REFUSED_PUBLICATIONS
        shown["refusals"] = _positive(self._dispatcher.tables.counters.as_dict(), refused)
        query.reply_json(self.pattern, json.dumps(shown))

    def _source(self, query: AdminQuery) -> Face:
        """The neighbour that the message comes from."""
        zid = _zid_of(query.parameters.get("from"))
        if zid is None:
            requester = query.requester
            assert requester is not None
            return requester
        if zid == self._dispatcher.zid:
            return self._own_face
        for face in self._dispatcher.faces:
            if face.zid == zid and not face.is_local:
                return face
        raise LocalError(f"this node has no session with {zid}")

    def _shown(self, explained: RouteExplanation) -> dict[str, object]:
        own = {"zid": str(self._dispatcher.zid), "whatami": str(self._dispatcher.role)}
        return {
            "node": own,
            "source": self._face(explained.source),
            "root": None if explained.root is None else str(explained.root),
            "counts": {name: count for name, count in explained.notes.counts.items() if count},
            "decisions": [self._decision(note) for note in explained.notes.notes],
        }

    def _destination(self, face: Face) -> dict[str, object]:
        """A neighbour that gets the message, and the state of its link."""
        shown: dict[str, object] = {**self._face(face)}
        counters = self._counters(face)
        if counters is not None:
            drops = counters.get("drops")
            if not face.is_multicast:
                shown["queued_bytes"] = counters.get("queued_bytes")
                shown["round_trip_us"] = counters.get("round_trip_us")
            if isinstance(drops, dict) and "dropped_messages" in drops:
                shown["dropped_messages"] = drops.get("dropped_messages")
            shown["drops"] = self._drops(counters, _LOST_OUTWARD)
        return shown

    def _counters(self, face: Face) -> dict[str, object] | None:
        if face.is_local:
            return None
        if face.is_multicast:
            drops = self._facts.group_drops(face)
            return None if drops is None else {"drops": drops}
        transport = self._facts.transport_with(face.zid)
        return None if transport is None else transport.counters()

    def _drops(self, counters: dict[str, object] | None, causes: tuple[str, ...]) -> dict[str, int]:
        drops = None if counters is None else counters.get("drops")
        return _positive(drops, causes) if isinstance(drops, dict) else {}

    def _face(self, face: Face) -> dict[str, str]:
        role = self._dispatcher.role if face.is_local else face.role
        shown = {"zid": str(face.zid), "whatami": str(role), "region": face.region.name}
        if face.is_multicast:
            shown["zid"] = "group"
        return shown

    def _decision(self, note: Note) -> dict[str, object]:
        return {
            "verdict": note.verdict,
            "holder": self._face(note.holder),
            "declared": note.key,
            "complete": note.is_complete,
            "hop": None if note.hop is None else self._face(note.hop),
        }


def _positive(counters: dict[str, int], names: tuple[str, ...]) -> dict[str, int]:
    return {name: counters[name] for name in names if counters.get(name)}


def _zid_of(text: str | None) -> ZenohId | None:
    return None if text is None else ZenohId.parse(text)
