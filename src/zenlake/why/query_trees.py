"""Query trees: a query over all its hops, as a tree of the nodes that forwarded it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from zenlake.trace.timelines.request_traces import NEVER, Request, RequestTraces
from zenlake.why.records import BY_SEQ, QueryHop


@dataclass(slots=True)
class QueryTree:
    """One REQUEST, and the requests with which its receiver forwarded it."""

    query: QueryHop
    onward: list[QueryTree] = field(default_factory=list)

    def hops(self) -> Iterator[QueryHop]:
        yield self.query
        for part in self.onward:
            yield from part.hops()

    def leaves(self) -> Iterator[QueryTree]:
        if not self.onward:
            yield self
        for part in self.onward:
            yield from part.leaves()


def set_trace_ids(queries: list[QueryHop]) -> None:
    """Sets `trace_id`: assigns requests of the same content to the first hop of their query."""
    questions: dict[str, list[QueryHop]] = {}
    for query in queries:
        questions.setdefault(query.question, []).append(query)
    for same in questions.values():
        hops = RequestTraces()
        for query in sorted(same, key=BY_SEQ):
            query.trace_id = hops.add(
                Request(
                    query.seq,
                    query.at.time_ns,
                    query.session,
                    query.requester,
                    query.responder,
                    NEVER if query.final_seq is None else query.final_seq,
                    query.deadline_ns,
                )
            )


def query_trees(queries: list[QueryHop]) -> list[QueryTree]:
    """Each query as a tree; a request of unknown origin is a separate tree."""
    found: list[QueryTree] = []
    traces: dict[int, list[QueryTree]] = {}
    for query in sorted(queries, key=BY_SEQ):
        tree = QueryTree(query)
        earlier = [] if query.trace_id is None else traces.setdefault(query.trace_id, [])
        parent = next(
            (
                one
                for one in reversed(earlier)
                if one.query.responder == query.requester and one.query.session != query.session
            ),
            None,
        )
        if parent is None:
            found.append(tree)
        else:
            parent.onward.append(tree)
        earlier.append(tree)
    return found
