"""Evidence from the tables of a lake, on DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import duckdb

from zenlake.errors import LocalError
from zenlake.exit_cleanups import temporary_folder
from zenlake.lake.publish import Snapshot, Store
from zenlake.lake.publish.local_copy import on_this_machine
from zenlake.lake.sql import on_duckdb
from zenlake.lake.sql.functions import sql_error
from zenlake.limits import WHY_RECORDS_MAX, WHY_SAMPLES_MAX, WHY_SAMPLES_PER_KEY_MAX
from zenlake.trace.rows.message_rows import timestamp_order
from zenlake.trace.session_ends import SessionEnd
from zenlake.trace.timelines.queryables import undecoded_bytes
from zenlake.why.collector import Collector
from zenlake.why.formatting import error_text
from zenlake.why.group_memberships import SILENCE_NS_MIN, MembershipTracker
from zenlake.why.lake_queries import (
    CAPTURES,
    DECLARATIONS,
    FLOWS,
    INTERESTS,
    LAST_SENT,
    LOSSES,
    MEMBERS,
    QUERIES,
    REPLIES,
    ROLES,
    SAMPLES,
    SESSIONS,
)
from zenlake.why.records import (
    BY_SEQ,
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
from zenlake.why.scope import Scope, without_at
from zenlake.wire.values.timestamp import Timestamp

_MEMBER_ROWS_MAX: Final = 1_000_000
"""The most rows of JOINs and of messages after a silence; hours of traffic have fewer."""


def read_lake(directory: str, scope: Scope, only: str | None = None) -> Iterator[Evidence]:
    """The evidence of each capture in the lake, in the order of their times; or of one path."""
    snapshot = Store(directory).snapshot()
    if only is not None and only not in snapshot.manifest.captures:
        raise LocalError(f"{directory}: no capture {only!r} (zenlake lake ls lists them)")
    with on_this_machine(snapshot) as here:
        yield from read_snapshot(here, scope, only)


def read_snapshot(snapshot: Snapshot, scope: Scope, only: str | None = None) -> Iterator[Evidence]:
    """The evidence of each capture of a snapshot that is open already."""
    with (
        temporary_folder() as spill,
        on_duckdb.opened(snapshot, spill) as connection,
    ):
        yield from read_tables(connection, scope, only)


def read_tables(
    connection: duckdb.DuckDBPyConnection, scope: Scope, only: str | None = None
) -> Iterator[Evidence]:
    """The evidence of each capture in a database that has the tables."""
    for capture, packets, first_ns, last_ns, undecoded, error in _rows(connection, CAPTURES):
        if only not in (None, capture):
            continue
        evidence = Evidence(capture, packets or 0, first_ns, last_ns, damage=error)
        evidence.undecoded = undecoded_bytes(undecoded)
        yield _Reader(connection, evidence, scope).read()


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    try:
        on_duckdb.execute(connection, sql)
        return connection.fetchall()
    except duckdb.Error as error:
        raise sql_error(str(error)) from None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class _Reader:
    def __init__(
        self, connection: duckdb.DuckDBPyConnection, evidence: Evidence, scope: Scope
    ) -> None:
        self._connection = connection
        self._evidence = evidence
        self._collector = Collector(evidence, scope)

    def read(self) -> Evidence:
        self._sessions()
        self._queries()
        for row in self._select(DECLARATIONS):
            self._collector.declaration(_declaration(row))
        for session, seq, time_ns, packet, *rest in self._select(INTERESTS):
            self._collector.interest(InterestRecord(session, seq, Moment(time_ns, packet), *rest))
        for session, time_ns, packet, *rest in self._select(LOSSES):
            self._collector.loss(Loss(session, Moment(time_ns, packet), *rest))
        if any(one.protocol == "multicast" for one in self._evidence.sessions.values()):
            self._memberships()
        if not self._collector.scope.only_queries:
            self._flows()
        return self._evidence

    def _select(self, sql: str, asked: str = "true", limit: int = 0) -> list[tuple[Any, ...]]:
        here = f"capture = {_quoted(self._evidence.capture)}"
        return _rows(
            self._connection,
            sql.format(here=here, asked=asked, limit=limit, per_key=WHY_SAMPLES_PER_KEY_MAX),
        )

    def _key_condition(self, column: str) -> str:
        """The condition of `Scope.has_key` in SQL."""
        key = self._collector.scope.key
        if key is None:
            return "true"
        without = f"regexp_replace({column}, '(^|/)@', '\\1~', 'g')"
        return f"""({column} IS NULL OR ke_intersects({column}, {_quoted(key)})
            OR ke_intersects({without}, {_quoted(without_at(key))}))"""

    def _query_condition(self) -> str:
        """SQL that selects the named query with all hops, and others of the same number."""
        query = self._collector.scope.query
        if query is None:
            return "true"
        number = int(query.rpartition("/")[2])
        here = f"capture = {_quoted(self._evidence.capture)}"
        is_named = f"(request_id = {number} OR trace_id = {number})"
        return f"""(q.request_id = {number} OR q.trace_id IN
            (SELECT trace_id FROM queries WHERE {here} AND {is_named}))"""

    def _sessions(self) -> None:
        members: set[str] = set()
        for row in self._select(SESSIONS):
            session = SessionRecord(*row[:11])
            opener_role, acceptor_role, group = row[11:14]
            session.end = SessionEnd(*row[14:]) if group is None else None
            members.update((group or "").split())
            self._collector.session(session)
            self._collector.role(session.opener, opener_role)
            self._collector.role(session.acceptor, acceptor_role)
        for name, zid, time_ns, packet in self._select(LAST_SENT):
            self._collector.last_sent(name, zid, Moment(time_ns, packet))
        for zid, role in self._select(ROLES) if members else ():
            if zid in members:
                self._collector.role(zid, role)

    def _memberships(self) -> None:
        memberships = MembershipTracker()
        for session, link, time_ns, packet, kind, detail, *before in self._select(
            MEMBERS.replace("{silence}", str(SILENCE_NS_MIN)), limit=_MEMBER_ROWS_MAX
        ):
            if before[0] is not None:
                memberships.received_before(session, link, Moment(*before))
            found = None if detail is None else json.loads(detail)
            memberships.feed(session, link, Moment(time_ns, packet), kind, found)
        self._evidence.memberships = memberships.finish(self._evidence.last_ns)

    def _queries(self) -> None:
        found: dict[tuple[str, int], QueryHop] = {}
        asked = f"{self._key_condition('q.key')} AND {self._query_condition()}"
        rows = self._select(QUERIES, asked, WHY_RECORDS_MAX)
        for session, seq, time_ns, packet, *rest in rows:
            *said, trace_id, final_ns, final_packet, final_seq, reused = rest
            query = QueryHop(session, seq, Moment(time_ns, packet), *said)
            query.trace_id = trace_id
            if final_ns is not None:
                query.final, query.final_seq = Moment(final_ns, final_packet), final_seq
            query.reused = reused and query.final is None
            found[session, seq] = query
            self._collector.query(query)
        for session, seq, time_ns, packet, kind, key, replier, stamp, late, error in self._select(
            REPLIES
        ):
            asking = found.get((session, seq))
            if asking is not None:
                at = Moment(time_ns, packet)
                order = "" if stamp is None else timestamp_order(Timestamp.parse(stamp))
                text = error_text(error) if kind == "ERR" else None
                self._collector.reply(
                    asking, ReplyRecord(at, kind, key, replier, order, late, text)
                )
        self._evidence.queries.sort(key=BY_SEQ)

    def _flows(self) -> None:
        for row in self._select(FLOWS, limit=WHY_RECORDS_MAX):
            session, sender, key, receiver, congestion, reliability, priority = row[:7]
            flow = Flow(session, sender, receiver, key, congestion, reliability, priority)
            flow.count, flow.ignored = row[7:9]
            flow.first, flow.last = Moment(*row[10:12]), Moment(*row[12:14])
            self._collector.flow(flow)
        for session, sender, key, time_ns, packet, digest in self._select(
            SAMPLES, self._key_condition("key"), WHY_SAMPLES_MAX
        ):
            known = self._evidence.flows.get((session, sender, key))
            if known is not None:
                self._collector.sample(known, Sample(Moment(time_ns, packet), digest))


def _declaration(row: tuple[Any, ...]) -> Declaration:
    session, seq, entity, key, sender, receiver, id, declared_ns, packet = row[:9]
    ended_ns, ended_packet, ended_by, complete, interest_id, node_id, is_answer = row[9:]
    return Declaration(
        session,
        seq,
        entity,
        key,
        sender,
        receiver,
        id or 0,
        None if declared_ns is None else Moment(declared_ns, packet),
        None if ended_ns is None else Moment(ended_ns, ended_packet),
        ended_by,
        complete,
        interest_id,
        node_id,
        is_answer,
    )
