"""`adjacencies`: the network as it was set up, and as it changed.

Only the announcements of a node about itself count; a link exists while both ends announce it.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.lake.contents.tables import Row, Tables, closed_at, seconds
from tests.trace.sidecar import PATHS, Sidecar, sidecar_of

TELLING = ["old_release_1_0_4", "peers_gossip", "routers_ring"]
SETTLED_SECONDS = 0.1
RING = ("router0", "router1", "router2", "router3")


def announced_links_at(tables: Tables, name: str, time: float) -> dict[tuple[str, str], int]:
    """Links with weights at a time, as announced by their first nodes; 0 is no weight."""
    return {
        (row["zid"], row["neighbour_zid"]): row["weight"] or 0
        for row in tables.of(name, "adjacencies")
        if row["told_by_zid"] == row["zid"]
        and seconds(row["from_ns"]) <= time
        and (row["to_ns"] is None or time < seconds(row["to_ns"]))
    }


def links_at(tables: Tables, name: str, time: float) -> dict[frozenset[str], int]:
    """Links that both ends announce, with the larger weight (behaviour reference §4.7)."""
    announced = announced_links_at(tables, name, time)
    return {
        frozenset(ends): max(weight, announced[ends[::-1]])
        for ends, weight in announced.items()
        if ends[::-1] in announced
    }


def weights_in(sidecar: Sidecar) -> dict[tuple[str, str], int]:
    return {
        (row["zid"], one["dst_zid"]): one["weight"]
        for row in sidecar.nodes
        for one in row["config"].get("routing/router/linkstate/transport_weights", ())
    }


def pairs(sidecar: Sidecar, *nodes: str) -> set[frozenset[str]]:
    zids = [sidecar.zids[node] for node in nodes]
    return {frozenset(pair) for pair in pairwise(zids)}


def test_the_ring_has_its_links_and_weights(tables: Tables) -> None:
    sidecar = sidecar_of("routers_ring")
    before = closed_at(sidecar, "router1") - SETTLED_SECONDS
    wanted = weights_in(sidecar)
    assert sorted(wanted.values()) == [10, 20, 300]
    announced = announced_links_at(tables, "routers_ring", before)
    assert {ends: weight for ends, weight in announced.items() if weight} == wanted
    links = links_at(tables, "routers_ring", before)
    assert links.keys() == pairs(sidecar, *RING, RING[0])
    named = {frozenset(ends): weight for ends, weight in wanted.items()}
    assert {ends: weight for ends, weight in links.items() if weight} == named


def test_router_that_left_has_no_links(tables: Tables) -> None:
    sidecar = sidecar_of("routers_ring")
    after = closed_at(sidecar, "router1") + SETTLED_SECONDS
    links = links_at(tables, "routers_ring", after)
    assert links.keys() == pairs(sidecar, "router2", "router3", "router0")
    assert max(links.values()) == 300


def test_links_appear_in_the_order_of_the_routers(tables: Tables) -> None:
    """Each router dials when it is opened; `open` returns when its links exist."""
    sidecar = sidecar_of("routers_ring")
    opened = {row["node"]: row["t"] for row in sidecar.of("open")}
    for count, node in enumerate(RING):
        links = links_at(tables, "routers_ring", opened[node] + SETTLED_SECONDS)
        wanted = pairs(sidecar, *RING[: count + 1])
        assert links.keys() == wanted | (pairs(sidecar, *RING[::-3]) if count == 3 else set())


def test_all_routers_announce_the_same_ring(tables: Tables) -> None:
    sidecar = sidecar_of("routers_ring")
    before = closed_at(sidecar, "router1") - SETTLED_SECONDS
    own = announced_links_at(tables, "routers_ring", before)
    for row in tables.of("routers_ring", "adjacencies"):
        is_over = row["to_ns"] is not None and seconds(row["to_ns"]) <= before
        if seconds(row["from_ns"]) <= before and not is_over:
            assert own[row["zid"], row["neighbour_zid"]] == (row["weight"] or 0)


def test_a_peer_announces_its_links_to_its_router(tables: Tables) -> None:
    """Peers announce no links to each other, and the router has none to announce."""
    sidecar = sidecar_of("peers_gossip")
    first = sidecar.zids["peer0"]
    rows = tables.of("peers_gossip", "adjacencies")
    assert {(row["told_by_zid"], row["zid"]) for row in rows} == {(first, first)}
    assert {row["neighbour_zid"] for row in rows} == set(sidecar.zids.values()) - {first}
    assert {row["weight"] for row in rows} == {None}


@pytest.mark.parametrize("name", PATHS)
def test_every_announced_link_is_a_session(tables: Tables, name: str) -> None:
    rows = tables.of(name, "adjacencies")
    assert bool(rows) == (name in TELLING)
    sessions = {
        frozenset((row["opener_zid"], row["acceptor_zid"])) for row in tables.of(name, "sessions")
    }
    for row in rows:
        assert frozenset((row["zid"], row["neighbour_zid"])) in sessions
        assert row["to_ns"] is None or row["from_ns"] < row["to_ns"]


@pytest.mark.parametrize("name", TELLING)
def test_announced_links_end_with_the_sessions_of_their_node(tables: Tables, name: str) -> None:
    for row in tables.of(name, "adjacencies"):
        ends = [one["closed_ns"] for one in sessions_of(tables, name, row["told_by_zid"])]
        assert None in ends or (row["to_ns"] is not None and row["to_ns"] <= max(ends))


def sessions_of(tables: Tables, name: str, zid: str) -> list[Row]:
    return [
        row
        for row in tables.of(name, "sessions")
        if zid in (row["opener_zid"], row["acceptor_zid"])
    ]
