"""How a query ended on one link: in time, by a timer, with its session, or not at all."""

from __future__ import annotations

from typing import Final

from zenlake.why.network import Network
from zenlake.why.query_trees import QueryTree
from zenlake.why.records import Moment, QueryHop, ReplyRecord, SessionRecord
from zenlake.wire.defaults import DEFAULT_QUERY_TIMEOUT_MS

_DEFAULT_TIMEOUT_NS: Final = DEFAULT_QUERY_TIMEOUT_MS * 1_000_000
"""Default of nodes for a query without a timeout (behaviour reference §2.5)."""


def session_end(session: SessionRecord) -> Moment:
    assert session.closed_ns is not None
    return Moment(session.closed_ns, session.close_packet)


def timeouts(query: QueryHop) -> list[ReplyRecord]:
    """Errors by which a node reports that the next one timed out."""
    return [reply for reply in query.replies if reply.is_timeout]


def late_replies(query: QueryHop) -> list[ReplyRecord]:
    """Replies after the final response, without errors of timers."""
    return [reply for reply in query.replies if reply.after_final and not reply.is_timeout]


def is_finished(query: QueryHop) -> bool:
    """Whether the responder finished in time, and not because its timer fired.

    A node whose timer fires sends the error Timeout and a final response, which do not come from
    the queryable (behaviour reference §4.5).
    """
    final = query.final
    return final is not None and final.time_ns <= query.deadline_ns and not timeouts(query)


def timed_out(network: Network, query: QueryHop) -> bool:
    final = query.final
    if timeouts(query) and not query.reused:
        return True
    if final is not None:
        return final.time_ns > query.deadline_ns
    deadline_ns = query.deadline_ns
    if query.timeout_ms is None and not query.reused:
        deadline_ns = query.at.time_ns + _DEFAULT_TIMEOUT_NS
    return network.session_end_ns(query.session) > deadline_ns


def lost_session(network: Network, query: QueryHop) -> SessionRecord | None:
    """The session, if it ended before the query did."""
    session = network.evidence.sessions.get(query.session)
    if session is None or session.closed_ns is None or query.final is not None:
        return None
    return session if session.closed_ns <= query.deadline_ns else None


def silent(network: Network, tree: QueryTree) -> list[QueryTree]:
    """The last hops on which the query did not finish."""
    waiting = [part for part in tree.onward if not is_finished(part.query)]
    if not waiting:
        return [tree]
    return [leaf for part in waiting for leaf in silent(network, part)]
