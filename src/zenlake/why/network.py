"""Network: the evidence of one capture, indexed by node, key and session."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, TypeVar

from zenlake.limits import WHY_KEYS_COMPARED_MAX
from zenlake.trace.session_ends import OPENER, leaver_of
from zenlake.trace.timelines.queryables import Queryable, Queryables, hidden_text
from zenlake.why.disjoint import Difference, nearest
from zenlake.why.formatting import Labels
from zenlake.why.records import (
    Declaration,
    Evidence,
    Flow,
    InterestRecord,
    Loss,
    Moment,
    QueryHop,
    SessionRecord,
)
from zenlake.why.scope import intersects

_COMPARISONS: Final = "keys without a match (to look for one that is near)"
IN_CAPTURE_ONLY: Final = ("tcp_gap", "truncated", "resync")
"""Kinds of losses of the capture itself: the nodes may have received everything."""

_Record = TypeVar("_Record")


def _grouped(records: Iterable[_Record], *attributes: str) -> dict[Any, list[_Record]]:
    """The records by the value of an attribute, or by the values of several."""
    found: dict[Any, list[_Record]] = defaultdict(list)
    key_of = attrgetter(*attributes)
    for record in records:
        found[key_of(record)].append(record)
    return found


class Network:
    """Indexes of declarations, interests, publications, sessions and losses."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.labels = Labels(evidence)
        lasting = [one for one in evidence.declarations if not one.is_answer]
        self._announced_to = _grouped(lasting, "receiver", "entity")
        self._announced_by = _grouped(lasting, "sender", "entity")
        self._announced_exactly = _grouped(lasting, "receiver", "entity", "key")
        self._sessions: dict[str | None, list[SessionRecord]] = defaultdict(list)
        for session in evidence.sessions.values():
            for zid in {session.opener, session.acceptor}:
                self._sessions[zid].append(session)
        self._neighbours: dict[str | None, int] = {}
        self.hidden_links: dict[str | None, str | None] = {}
        """Cache of `hidden_links.hidden_link`."""
        self._compared = 0
        self._watchers = _grouped(
            (one for one in evidence.interests if "T" in one.options), "receiver"
        )
        self._publishers = _grouped(
            (one for one in evidence.interests if "S" in one.options), "sender", "key"
        )
        self._losses = _grouped(evidence.losses, "session")
        self._flows = _grouped(evidence.flows.values(), "sender", "key")
        self._flows_to = _grouped(evidence.flows.values(), "receiver")
        self.tokens: dict[str, list[Declaration]] = _grouped(
            (one for one in evidence.declarations if one.entity == "token" and one.key is not None),
            "key",
        )
        """Declarations of tokens by key, including answers to liveliness gets."""

    def announced_to(self, zid: str | None, entity: str) -> list[Declaration]:
        return self._announced_to[zid, entity]

    def announced_by(self, zid: str | None, entity: str) -> list[Declaration]:
        return self._announced_by[zid, entity]

    def announced_exactly(self, zid: str, entity: str, key: str) -> list[Declaration]:
        """Declarations to a node for exactly this key."""
        return self._announced_exactly[zid, entity, key]

    def announced_matching(self, zid: str | None, entity: str, key: str) -> list[Declaration]:
        """Declarations to a node for keys that intersect this one."""
        return _intersecting(self.announced_to(zid, entity), key)

    def role(self, zid: str | None) -> str | None:
        return self.labels.role(zid)

    def are_peers(self, one: str | None, other: str | None) -> bool:
        """Whether both are peers, which announce everything to each other directly."""
        return self.role(one) == "peer" and self.role(other) == "peer"

    def session_end_ns(self, session: str) -> int:
        """The time at which a session ended; the end of the capture if it did not."""
        record = self.evidence.sessions.get(session)
        closed_ns = None if record is None else record.closed_ns
        return self.evidence.last_ns if closed_ns is None else closed_ns

    def declaration_end_ns(self, declaration: Declaration) -> int:
        """The time at which a declaration ended; the end of the capture if it did not."""
        return self.evidence.last_ns if declaration.ended is None else declaration.ended.time_ns

    def closer(self, session: str) -> str | None:
        """The node that sent CLOSE, if any."""
        record = self.evidence.sessions.get(session)
        return None if record is None or record.outcome != "closed" else record.closer

    def leaver(self, session: str) -> str | None:
        """The node that ended the session by itself, and not because the other side was silent."""
        record = self.evidence.sessions.get(session)
        side = None if record is None or record.end is None else leaver_of(record.end)
        if record is None or side is None:
            return None
        return record.opener if side == OPENER else record.acceptor

    def interests_of(self, publisher: str | None, key: str) -> list[InterestRecord]:
        """Interests by which a publisher of exactly this key asked for subscribers."""
        return self._publishers[publisher, key]

    def offers(self, node: str | None, asker: str | None, entity: str) -> list[Declaration]:
        """Declarations, of any key, to which a node may send a query or publication of `asker`.

        These are the declarations of others, and those of the node that it did not only forward.
        """
        from_others = self.from_others(node, asker, entity)
        keys = {declaration.key for declaration in from_others}
        own = [
            declaration
            for declaration in self.announced_by(node, entity)
            if declaration.receiver == asker and declaration.key not in keys
        ]
        return from_others + own

    def from_others(self, node: str | None, asker: str | None, entity: str) -> list[Declaration]:
        """Declarations of others to a node.

        Those that a peer also declared to the peer `asker` are left out: `asker` reaches them
        directly, and nodes do not relay between connected peers.
        """
        announced = [
            declaration
            for declaration in self.announced_to(node, entity)
            if declaration.sender != asker
        ]
        if asker is None or self.role(asker) != "peer":
            return announced
        direct = {
            (declaration.sender, declaration.key)
            for declaration in self.announced_to(asker, entity)
        }
        return [
            declaration
            for declaration in announced
            if self.role(declaration.sender) != "peer"
            or (declaration.sender, declaration.key) not in direct
        ]

    def matching(
        self, node: str | None, asker: str | None, entity: str, key: str
    ) -> list[Declaration]:
        return _intersecting(self.offers(node, asker, entity), key)

    def own_match(self, node: str | None, entity: str, key: str, at: Moment) -> Declaration | None:
        """A declaration of the node that matches its own message, which is delivered within it."""
        if self.role(node) == "router":
            return None
        matching = _intersecting(self.announced_by(node, entity), key)
        return next((one for one in matching if one.is_alive(at.time_ns)), None)

    @cached_property
    def queryables(self) -> Queryables:
        """All announced queryables, to explain queries without a reply."""
        found = Queryables()
        for session in self.evidence.sessions.values():
            found.connect(session.opener, self.role(session.opener), session.acceptor)
            found.connect(session.acceptor, self.role(session.acceptor), session.opener)
            closer = self.closer(session.id)
            if closer is not None:
                found.closers[session.id] = closer
            leaver = self.leaver(session.id)
            if leaver is not None:
                found.leavers[session.id] = leaver
        for declaration in self.evidence.declarations:
            if (
                declaration.entity == "queryable"
                and declaration.key is not None
                and not declaration.is_answer
            ):
                ends = (declaration.declared_ns, declaration.ended_ns, declaration.ended_by)
                place = (declaration.session, declaration.node_id)
                found.add(
                    Queryable(
                        declaration.sender, declaration.receiver, declaration.key, *ends, *place
                    )
                )
        found.hidden = self.hidden
        return found

    @cached_property
    def _by_session(self) -> dict[Any, list[Declaration]]:
        return _grouped(self.evidence.declarations, "session")

    @cached_property
    def _by_key(self) -> dict[Any, list[Declaration]]:
        return _grouped(self.evidence.declarations, "entity", "key")

    @cached_property
    def _queries(self) -> dict[Any, list[QueryHop]]:
        return _grouped(self.evidence.queries, "session")

    def queries_to(self, node: str | None) -> list[QueryHop]:
        """All queries that a node received, in the order of the capture."""
        return self._queries_to[node]

    @cached_property
    def _queries_to(self) -> dict[Any, list[QueryHop]]:
        return _grouped(self.evidence.queries, "responder")

    @cached_property
    def passed_on(self) -> set[tuple[int, str | None]]:
        """Pairs of a query's trace id and a node that sent it."""
        return {
            (query.trace_id, query.requester)
            for query in self.evidence.queries
            if query.trace_id is not None
        }

    @cached_property
    def _pairs(self) -> dict[frozenset[str | None], list[SessionRecord]]:
        found: dict[frozenset[str | None], list[SessionRecord]] = defaultdict(list)
        for session in self.evidence.sessions.values():
            if session.is_open:
                found[frozenset((session.opener, session.acceptor))].append(session)
        for sessions in found.values():
            sessions.sort(key=lambda one: (one.start_ns, one.id))
        return found

    def declared_in(self, session: str) -> list[Declaration]:
        return self._by_session[session]

    def declared_as(self, entity: str, key: str | None) -> list[Declaration]:
        return self._by_key[entity, key]

    def asked_in(self, session: str) -> list[QueryHop]:
        return self._queries[session]

    def next_session(self, old: SessionRecord) -> SessionRecord | None:
        """The next session of the same two nodes that opened after this one ended."""
        if old.opener is None or old.acceptor is None or old.closed_ns is None:
            return None
        sessions = self._pairs.get(frozenset((old.opener, old.acceptor)), [])
        place = bisect_left(sessions, old.closed_ns, key=lambda one: one.start_ns)
        return sessions[place] if place < len(sessions) else None

    def find_declaration(self, queryable: Queryable) -> Declaration | None:
        for declaration in self.announced_by(queryable.sender, "queryable"):
            place = (declaration.receiver, declaration.key, declaration.declared_ns)
            if place == (queryable.receiver, queryable.key, queryable.declared_ns):
                return declaration
        return None

    def wire_loss(self, session: str, sender: str | None, from_ns: int, to_ns: int) -> Loss | None:
        """A loss of frames of a sender in this time."""
        for loss in self._losses[session]:
            if (
                loss.kind == "sn_gap"
                and loss.sender == sender
                and from_ns <= loss.at.time_ns <= to_ns
            ):
                return loss
        return None

    def sessions_of(self, zid: str | None) -> list[SessionRecord]:
        return [] if zid is None else self._sessions[zid]

    def has_one_link(self, zid: str | None) -> bool:
        """Whether the capture shows a router or peer with a single neighbour: it may have more."""
        if zid not in self._neighbours:
            others = {session.other(zid) for session in self.sessions_of(zid)}
            self._neighbours[zid] = len(others)
        return self.role(zid) != "client" and self._neighbours[zid] <= 1

    def is_group(self, session: str) -> bool:
        """Whether the session is a multicast group."""
        record = self.evidence.sessions.get(session)
        return record is not None and record.protocol == "multicast"

    def receiver(self, session: str | None, zid: str | None) -> str:
        """The receiver of a message, as text."""
        if session is not None and self.is_group(session):
            return "the group"
        return self.labels.who(zid)

    @cached_property
    def hidden(self) -> str | None:
        """Why the capture may lack declarations, as text: encrypted links, partial sessions."""
        partial = sum(one.outcome == "partial" for one in self.evidence.sessions.values())
        return hidden_text(self.evidence.undecoded.get("encrypted", 0), partial)

    def nearest(self, key: str, keys: list[str]) -> Difference | None:
        """The most similar of these keys; None if none is similar or the limit is reached."""
        if self._compared >= WHY_KEYS_COMPARED_MAX:
            left_out = self.evidence.left_out
            left_out[_COMPARISONS] = left_out.get(_COMPARISONS, 0) + 1
            return None
        different = list(dict.fromkeys(keys))
        self._compared += len(different)
        return nearest(key, different)

    def losses(self, session: str | None) -> list[Loss]:
        return self._losses[session]

    def capture_gap(self, session: str, from_ns: int, to_ns: int) -> Loss | None:
        """A loss of the capture in a session in this time."""
        for loss in self._losses[session]:
            if loss.kind in IN_CAPTURE_ONLY and from_ns <= loss.at.time_ns <= to_ns:
                return loss
        return None

    def holes(self, session: str, from_ns: int = 0) -> list[Loss]:
        """All losses of the capture in a session, from a time on."""
        return [
            loss
            for loss in self._losses[session]
            if loss.kind in IN_CAPTURE_ONLY and loss.at.time_ns >= from_ns
        ]

    def answered(
        self, responder: str | None, selector: str, longer_than_ms: float
    ) -> QueryHop | None:
        """A query that the node answered and that took longer than this."""
        found = self._slowest.get((responder, selector))
        return found if found and found.took_ns > longer_than_ms * 1e6 else None

    @cached_property
    def _slowest(self) -> dict[tuple[str | None, str], QueryHop]:
        """The answered query that took the longest, by responder and selector."""
        found: dict[tuple[str | None, str], QueryHop] = {}
        for query in self.evidence.queries:
            place = (query.responder, query.selector)
            known = found.get(place)
            if query.is_answered and (known is None or query.took_ns > known.took_ns):
                found[place] = query
        return found

    def sent_on(self, node: str | None, key: str) -> list[Flow]:
        """Publications of a key that a node sent, to any receiver."""
        return self._flows[node, key]

    def received_by(self, node: str | None) -> list[Flow]:
        return self._flows_to[node]

    def watchers(self, node: str | None) -> list[InterestRecord]:
        """Interests of others in the tokens of a node."""
        return self._watchers[node]


def _intersecting(declarations: list[Declaration], key: str) -> list[Declaration]:
    return [one for one in declarations if one.key is not None and intersects(one.key, key)]
