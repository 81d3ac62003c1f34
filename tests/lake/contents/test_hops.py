"""`trace_id` joins all hops of a query, from the requester to the responders, and no others."""

from __future__ import annotations

import pytest

from tests.lake.contents.questions import Questions, is_root
from tests.lake.contents.tables import Row, Tables, closed_at, nodes_by_zid
from tests.trace.test_contents_queries import ANSWERING, ASKING


@pytest.mark.parametrize("name", ASKING)
def test_hops_of_a_trace_begin_with_its_root_and_are_connected(tables: Tables, name: str) -> None:
    questions = Questions(tables, name)
    seen = set()
    for _, root in questions.gets:
        hops = questions.hops(root)
        assert hops[0] is root
        reached = {root["requester_zid"]}
        for hop in hops:
            # In the order of the capture, each requester received the query on an earlier hop.
            assert hop["requester_zid"] in reached
            reached.add(hop["responder_zid"])
            assert hop["time_ns"] >= root["time_ns"]
            assert same_question(hop, root)
            seen.add(hop["seq"])
    assert len(seen) == len(questions.rows)
    assert sum(map(is_root, questions.rows)) == len(questions.gets)


def same_question(hop: Row, root: Row) -> bool:
    columns = (
        *("key", "parameters", "target", "consolidation", "timeout_ms", "payload"),
        *("encoding", "attachment", "budget"),
    )
    return all((hop[column] or None) == (root[column] or None) for column in columns)


@pytest.mark.parametrize("name", ANSWERING)
def test_traces_lead_to_the_queryables_that_were_called(tables: Tables, name: str) -> None:
    questions = Questions(tables, name)
    sidecar = questions.sidecar
    calls: dict[int, set[str]] = {}
    for received in questions.received():
        row = questions.last_hop(received)
        calls.setdefault(row["trace_id"], set()).add(received["node"])
    assert calls or name == "encrypted_links", "there the answer comes over TLS"
    names = nodes_by_zid(sidecar)
    routers = {node for node, zid in sidecar.zids.items() if sidecar.roles[zid] == "router"}
    for get, root in questions.gets:
        path = parents_of(questions.hops(root))
        ends = (
            {names.get(zid or "", "") for zid in path if zid not in path.values()} - routers - {""}
        )
        called = calls.get(root["seq"], set())
        assert ends == called or (name == "pico_peers" and called == {"a"})
        for node in ends:
            way = way_to(path, sidecar.zids[node])
            assert way[0] == sidecar.zids[get["node"]]
            assert all(sidecar.roles[zid] == "router" for zid in way[1:-1])


def parents_of(hops: list[Row]) -> dict[str | None, str]:
    """The requester of each responder; no node receives the query twice."""
    path = {hop["responder_zid"]: hop["requester_zid"] for hop in hops}
    assert len(path) == len(hops)
    return path


def way_to(path: dict[str | None, str], zid: str) -> list[str]:
    way = [zid]
    while way[-1] in path:
        way.append(path[way[-1]])
        assert len(way) < 10
    return way[::-1]


def test_queries_around_the_ring_take_the_lighter_links_while_they_exist(tables: Tables) -> None:
    questions = Questions(tables, "routers_ring")
    sidecar = questions.sidecar
    left_at = closed_at(sidecar, "router1")
    through = []
    for get, root in questions.gets:
        way = way_to(parents_of(questions.hops(root)), sidecar.zids["right"])
        by = "router1" if get["t"] < left_at else "router3"
        nodes = ("left", "router0", by, "router2", "right")
        assert way == [sidecar.zids[node] for node in nodes]
        through.append(by)
    assert through == ["router1"] * 3 + ["router3"]


@pytest.mark.parametrize("name", ASKING)
def test_replies_of_all_hops_belong_to_the_trace(tables: Tables, name: str) -> None:
    """A reply on a hop was also sent on the previous hop, unless it was too late."""
    questions = Questions(tables, name)
    queries = {row["seq"]: row for row in questions.rows}
    assert all(
        row["trace_id"] == queries[row["query_seq"]]["trace_id"] for row in questions.replies
    )
    for _, root in questions.gets:
        hops = questions.hops(root)
        ends = [hop for hop in hops if not any(is_after(hop, one) for one in hops)]
        if ends == [root]:
            continue
        assert root["replies"] == sum(hop["replies"] for hop in ends)
        assert root["final_ms"] >= max(hop["final_ms"] for hop in ends)


def is_after(hop: Row, other: Row) -> bool:
    return bool(other["requester_zid"] == hop["responder_zid"])
