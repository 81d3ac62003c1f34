"""The search for missing links does not scan all queries for each node."""

from __future__ import annotations

from collections.abc import Iterator

from tests.why.evidence_by_hand import A, B, asked, evidence
from zenlake.why.hidden_links import hidden_link
from zenlake.why.network import Network
from zenlake.why.records import QueryHop, SessionRecord

NODES = 40


class CountedList(list[QueryHop]):
    """Counts how often it is iterated over."""

    passes = 0

    def __iter__(self) -> Iterator[QueryHop]:
        self.passes += 1
        return super().__iter__()


def test_queries_are_not_searched_for_each_node() -> None:
    routers = [f"dddd{number:02}" for number in range(NODES)]
    queries = CountedList(asked(10 + n, responder=zid) for n, zid in enumerate(routers))
    found = evidence(queries=queries, roles=dict.fromkeys(routers, "router"))
    for zid in routers:
        for place in (A, B):
            name = f"{place}{zid}"
            found.sessions[name] = SessionRecord(name, place, zid, 0, None, "open", None, "tcp")
    network = Network(found)
    before = queries.passes
    assert [hidden_link(network, zid) for zid in routers] == [None] * NODES
    assert queries.passes - before <= 2
