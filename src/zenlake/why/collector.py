"""Collector: keeps the records of one capture that are in the scope, within limits."""

from __future__ import annotations

from zenlake.limits import (
    WHY_RECORDS_MAX,
    WHY_REPLIES_PER_QUERY_MAX,
    WHY_SAMPLES_MAX,
    WHY_SAMPLES_PER_KEY_MAX,
)
from zenlake.why.records import (
    Declaration,
    Evidence,
    Flow,
    InterestRecord,
    Loss,
    Moment,
    QueryHop,
    ReplyRecord,
    Sample,
    SessionRecord,
)
from zenlake.why.scope import Scope


class Collector:
    """Used by both readers, so that both keep the same records."""

    def __init__(
        self,
        evidence: Evidence,
        scope: Scope,
        records_max: int = WHY_RECORDS_MAX,
        samples_max: int = WHY_SAMPLES_MAX,
    ) -> None:
        self.evidence = evidence
        self.scope = scope
        self._records_max = records_max
        self._samples_left = samples_max
        self._named: set[str] = set()
        """Fingerprints of queries that are asked for by number: all their hops are kept."""

    def session(self, session: SessionRecord) -> None:
        if self._has_room("sessions", len(self.evidence.sessions)):
            self.evidence.sessions[session.id] = session

    def role(self, zid: str | None, role: str | None) -> None:
        if zid is not None and role is not None and len(self.evidence.roles) < self._records_max:
            self.evidence.roles[zid] = role

    def last_sent(self, session: str, zid: str | None, at: Moment) -> None:
        newest = self.evidence.last_sent
        if zid is not None and (len(newest) < 2 * self._records_max or (session, zid) in newest):
            newest[session, zid] = at

    def query(self, query: QueryHop) -> None:
        if not self.scope.has_key(query.key):
            return
        queries, named = self.evidence.queries, self._named
        if self.scope.names(query.request_id, query.seq):
            named.add(query.question)
        if len(queries) >= self._records_max:
            # Answered queries need no story.
            open_ones = [one for one in queries if one.question in named or not _is_plain(one)]
            self._leave_out("answered queries", len(queries) - len(open_ones))
            queries[:] = open_ones
        if self._has_room("queries", len(queries)):
            queries.append(query)

    def reply(self, query: QueryHop, reply: ReplyRecord) -> None:
        if len(query.replies) < WHY_REPLIES_PER_QUERY_MAX:
            query.replies.append(reply)
        elif reply.kind == "ERR":
            query.more_errors += 1
        else:
            query.more_replies += 1

    def declaration(self, declaration: Declaration) -> None:
        """Keeps a declaration of any key: one that nearly matches may be the explanation."""
        if declaration.entity != "keyexpr" and self._has_room(
            "declarations", len(self.evidence.declarations)
        ):
            self.evidence.declarations.append(declaration)

    def interest(self, interest: InterestRecord) -> None:
        if self._has_room("interests", len(self.evidence.interests)):
            self.evidence.interests.append(interest)

    def loss(self, loss: Loss) -> None:
        if self._has_room("losses", len(self.evidence.losses)):
            self.evidence.losses.append(loss)

    def flow(self, flow: Flow) -> Flow | None:
        """The kept flow of this session, sender and key; None if the limit is reached."""
        if self.scope.only_queries:
            return None
        place = (flow.session, flow.sender, flow.key)
        known = self.evidence.flows.get(place)
        if known is None and self._has_room("published keys", len(self.evidence.flows)):
            known = self.evidence.flows[place] = flow
        return known

    def sample(self, flow: Flow, sample: Sample) -> None:
        is_wanted = self.scope.has_key(flow.key)
        if is_wanted and self._samples_left and len(flow.samples) < WHY_SAMPLES_PER_KEY_MAX:
            self._samples_left -= 1
            flow.samples.append(sample)

    def _has_room(self, what: str, count: int) -> bool:
        if count < self._records_max:
            return True
        self._leave_out(what, 1)
        return False

    def _leave_out(self, what: str, count: int) -> None:
        if count:
            left_out = self.evidence.left_out
            left_out[what] = left_out.get(what, 0) + count


def _is_plain(query: QueryHop) -> bool:
    """Whether a query was answered in time, without errors or late replies."""
    final = query.final
    return (
        final is not None
        and final.time_ns <= query.deadline_ns
        and any(reply.kind != "ERR" for reply in query.replies)
        and not any(reply.after_final or reply.kind == "ERR" for reply in query.replies)
    )
