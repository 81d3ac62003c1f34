"""`samples` has every put and delete of the first set, on each link that it crossed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from tests.lake.contents.publications import arrived, counted, publication, reached
from tests.lake.contents.tables import Row, Tables, closed_at, nodes_by_zid
from tests.trace.publications import Publication, called, calls_of, deliveries_of
from tests.trace.sidecar import PATHS, digest, sidecar_of
from tests.trace.test_contents_publications import DELIVERING, PUBLISHING, as_sent, needed_by


def sent_by(tables: Tables, name: str, node: str) -> list[Row]:
    zid = sidecar_of(name).zids[node]
    return [row for row in tables.samples(name) if row["sender_zid"] == zid]


@pytest.mark.parametrize("name", [name for name in PUBLISHING if name != "peers_gossip"])
def test_each_call_has_one_sample_on_its_link(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    for node in {row["node"] for row in sidecar.of("put", "delete")}:
        assert counted(sent_by(tables, name, node)) == calls_of(sidecar, node)


def test_each_call_of_a_peer_has_one_sample_on_each_link_that_needs_it(tables: Tables) -> None:
    sidecar = sidecar_of("peers_gossip")
    for node in ("peer0", "peer1", "peer2"):
        wanted: Counter[Publication] = Counter()
        for row in sidecar.of("put"):
            if row["node"] == node:
                wanted[called(row)] += needed_by(sidecar, row)
        assert wanted
        rows = sent_by(tables, "peers_gossip", node)
        assert counted(rows) == wanted
        assert set(Counter((row["receiver_zid"], publication(row)) for row in rows).values()) == {1}


def test_samples_over_a_websocket_are_found(tables: Tables) -> None:
    sidecar = sidecar_of("encrypted_links")
    calls = [row for row in sidecar.events if row["op"] == "put" and row["node"] == "ws"]
    rows = sent_by(tables, "encrypted_links", "ws")
    assert len(rows) == 10
    assert counted(rows) == Counter(map(called, calls))
    protocols = tables.protocols("encrypted_links")
    assert {protocols[row["link"]] for row in rows} == {"ws"}


def test_payloads_in_shared_memory_are_null(tables: Tables) -> None:
    calls = [row for row in sidecar_of("sessions").of("put") if row.get("payload_in_shared_memory")]
    rows = [row for row in sent_by(tables, "sessions", "shm") if row["payload"] is None]
    assert len(rows) == 4
    assert counted(rows) == Counter(map(called, calls))


@pytest.mark.parametrize("name", DELIVERING)
def test_each_delivery_has_a_sample_on_a_captured_link(tables: Tables, name: str) -> None:
    sidecar, protocols = sidecar_of(name), tables.protocols(name)
    for (node, _), rows in deliveries_of(sidecar).items():
        zid = sidecar.zids[node]
        here = Counter(arrived(row) for row in tables.samples(name) if reached(row, zid, protocols))
        missing = Counter(as_sent(sidecar, node, row) for row in rows) - here
        own = {
            called(row)._replace(reliability=None)
            for row in sidecar.of("put", "delete")
            if row["node"] == node
        }
        assert set(missing) <= own
        assert missing.total() < len(rows)


def test_each_publication_crosses_the_ring_hop_by_hop(tables: Tables) -> None:
    """Samples take links of low weight while these exist, and others after a router left."""
    sidecar = sidecar_of("routers_ring")
    left_at = closed_at(sidecar, "router1")
    ways: Counter[tuple[str, ...]] = Counter()
    for call in sidecar.of("put"):
        rows = [
            row
            for row in tables.samples("routers_ring")
            if (row["key"], digest(row["payload"])) == (call["key"], called(call).payload)
        ]
        hops = [(row["sender_zid"], row["receiver_zid"]) for row in rows]
        assert all(one[1] == other[0] for one, other in pairwise(hops))
        names = nodes_by_zid(sidecar)
        way = (*(names[zid] for zid, _ in hops), names[hops[-1][1]])
        through = "router1" if call["t"] < left_at else "router3"
        assert way == ("left", "router0", through, "router2", "right")
        stamps = [row["timestamp"] for row in rows]
        assert stamps[0] is None
        assert len(set(stamps[1:])) == 1
        ways[way] += 1
    assert len(ways) == 2
    assert ways.total() == 40


@pytest.mark.parametrize("name", PATHS)
def test_redundant_columns_of_a_row_agree(tables: Tables, name: str) -> None:
    messages = {row["seq"]: row for row in tables.of(name, "messages")}
    for row in tables.of(name, "samples"):
        message = messages[row["seq"]]
        assert message["kind"] == f"PUSH/{row['kind']}"
        for column in ("key", "link", "packet", "sender_zid", "receiver_zid", "session"):
            assert message[column] == row[column]
        assert message["error"] == row["ignored"]
        assert (row["payload"] is None) == (row["payload_size"] is None)
        assert (row["kind"] == "DEL") <= (row["payload"] is None and row["encoding"] is None)
        assert (row["timestamp"] is None) == (row["timestamp_ns"] is None)
        if row["timestamp"] is not None:
            ntp = int(row["timestamp"].partition("/")[0])
            exact = (ntp >> 32) * 1_000_000_000 + ((ntp & 0xFFFF_FFFF) * 1_000_000_000 >> 32)
            assert abs(row["timestamp_ns"] - exact) <= 1
