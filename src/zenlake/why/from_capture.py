"""Evidence from the events of a capture."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import md5
from typing import Final

from zenlake import trace
from zenlake.trace import message_attributes as attributes
from zenlake.trace.events import (
    MessageSeen,
    Missing,
    SessionChanged,
    TraceEvent,
    Undecoded,
    ends_session,
)
from zenlake.trace.link import LinkBatch
from zenlake.trace.rows.detail import detail_of
from zenlake.trace.rows.row_maker import RowMaker
from zenlake.trace.rows.rows import Rows
from zenlake.trace.session import Session
from zenlake.trace.timelines.declarations import Declarations
from zenlake.trace.timelines.exchanges import Exchanges
from zenlake.trace.timelines.interests import InterestLifetime, Interests
from zenlake.trace.trace import Steps, Trace
from zenlake.why.collector import Collector
from zenlake.why.from_timelines import (
    declaration_of,
    interest_of,
    loss_of,
    query_of,
    replies_of,
    session_of,
)
from zenlake.why.group_memberships import MembershipTracker
from zenlake.why.query_trees import set_trace_ids
from zenlake.why.records import BY_SEQ, Evidence, Flow, Moment, Sample
from zenlake.why.scope import Scope
from zenlake.wire import Close, Join, Push

_DIGEST_DIGITS: Final = 12


def read_capture(
    path: str, scope: Scope, steps_of: Callable[[Trace], Steps] = Trace.steps
) -> Evidence:
    """The records in the scope, from one pass over the file."""
    with trace.open(path) as opened:
        return _Reader(opened, path, scope).read(steps_of(opened))


class _Reader:
    def __init__(self, opened: Trace, path: str, scope: Scope) -> None:
        self._trace = opened
        self._evidence = Evidence(path)
        self._collector = Collector(self._evidence, scope)
        self._numbers = RowMaker(opened, Rows(path, ()))
        self._exchanges = Exchanges()
        self._declarations = Declarations()
        self._interests = Interests()
        self._closes: dict[Session, MessageSeen] = {}
        self._memberships = MembershipTracker()

    def read(self, steps: Steps) -> Evidence:
        for item, events in steps:
            if isinstance(item, LinkBatch):
                self._numbers.seq(item.link, item.packet)
            for event in events:
                self._feed(event, isinstance(item, LinkBatch))
        self._finish()
        return self._evidence

    def _feed(self, event: TraceEvent, in_batch: bool) -> None:
        if isinstance(event, MessageSeen):
            # The same order as in the tables, so that trace ids are the same.
            event.seq = self._numbers.seq(event.link, event.packet)
            if event.session is not None:
                at = Moment(event.time_ns, event.packet)
                if not event.is_state:
                    self._collector.last_sent(event.session.id, event.sender_zid, at)
                if event.session.is_multicast:
                    self._member(event, event.session.id, at)
            if isinstance(event.message, Push):
                self._publication(event)
                return
            if isinstance(event.message, Close) and event.session is not None:
                self._closes.setdefault(event.session, event)
        elif isinstance(event, Missing):
            self._collector.loss(loss_of(event))
        elif isinstance(event, Undecoded) and not in_batch:
            self._numbers.seq(event.link, event.packet)
        self._follow(event)
        if isinstance(event, SessionChanged) and ends_session(event):
            self._session(event.session)

    def _member(self, event: MessageSeen, session: str, at: Moment) -> None:
        detail = None
        if isinstance(event.message, (Join, Close)):
            detail = json.loads(detail_of(event.kind, event.message) or "{}")
        self._memberships.feed(session, event.link.name, at, event.kind, detail)

    def _follow(self, event: TraceEvent) -> None:
        for exchange in self._exchanges.feed(event):
            self._query(exchange)
        for lifetime in self._declarations.feed(event):
            self._collector.declaration(declaration_of(lifetime))
        for interest in self._interests.feed(event):
            self._interest(interest)

    def _interest(self, interest: InterestLifetime) -> None:
        if interest.opened is not None:
            self._collector.interest(interest_of(interest))

    def _query(self, exchange: trace.Exchange) -> None:
        query = query_of(exchange)
        if query is not None:
            for reply in replies_of(exchange):
                self._collector.reply(query, reply)
            errors = sum(reply.kind == "ERR" for reply in query.replies)
            query.more_errors = exchange.errors - errors
            query.more_replies = exchange.replies - (len(query.replies) - errors)
            self._collector.query(query)

    def _publication(self, event: MessageSeen) -> None:
        session, key = event.session, event.key
        if session is None or key is None or event.is_state:
            return
        qos = attributes.qos_of(event)
        assert qos is not None
        reliability = attributes.reliability(event) or "reliable"
        flow = self._collector.flow(
            Flow(
                session.id,
                event.sender_zid,
                event.receiver_zid,
                key,
                str(qos.congestion),
                reliability,
                int(qos.priority),
            )
        )
        if flow is None:
            return
        at = Moment(event.time_ns, event.packet)
        flow.first = at if not flow.count else flow.first
        flow.last = at
        flow.count += 1
        if event.ignored is not None:
            flow.ignored += 1
            return
        self._collector.sample(flow, Sample(at, _digest_of(event)))

    def _session(self, session: Session) -> None:
        close = self._closes.pop(session, None)
        self._collector.session(session_of(session, close))
        for node in session.members.values() if session.is_multicast else session.nodes:
            self._collector.role(node.zid, node.role)

    def _finish(self) -> None:
        evidence, opened = self._evidence, self._trace
        for exchange in self._exchanges.finish():
            self._query(exchange)
        for lifetime in self._declarations.finish():
            self._collector.declaration(declaration_of(lifetime))
        for interest in self._interests.finish():
            self._interest(interest)
        for session in opened.sessions:
            if session.id not in evidence.sessions:
                self._session(session)
        evidence.packets = opened.packets
        evidence.first_ns = opened.first_ns or 0
        evidence.last_ns = opened.last_ns or 0
        evidence.undecoded = dict(opened.undecoded)
        evidence.memberships = self._memberships.finish(evidence.last_ns)
        if opened.is_damaged:
            evidence.damage = "the file is damaged and was read as far as possible"
        set_trace_ids(evidence.queries)
        for records in (evidence.queries, evidence.declarations, evidence.interests):
            records.sort(key=BY_SEQ)
        evidence.losses.sort(key=lambda loss: (loss.at, loss.kind))


def _digest_of(event: MessageSeen) -> str | None:
    if event.kind == "PUSH/DEL":
        return ""
    payload = attributes.payload_of(event)
    if payload is None:
        return None
    return md5(payload, usedforsecurity=False).hexdigest()[:_DIGEST_DIGITS]
