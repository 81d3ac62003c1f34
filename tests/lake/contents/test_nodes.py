"""`nodes`: all nodes of a capture, with their roles and, if known, their locators."""

from __future__ import annotations

import pytest

from tests.lake.contents.tables import Tables
from tests.trace.sidecar import PATHS, sidecar_of

NOT_SEEN = {
    "compressed_midstream": "router sub pub",
    "encrypted_links": "tls quic",
    "fragments": "sub",  # only the publisher's link is captured
    "lowlatency_midstream": "router sub pub",
    "midstream": "router pub sub",
    "snaplen": "router",  # INIT_ACK is cut
}
"""Nodes whose ids are in no message of the capture."""

REFUSED = {"sessions": 2}
"""Attempts whose nodes have no session and no row in the sidecar."""

LOCATED = {
    "cooked_v1": "router",
    "cooked_v2": "router",
    "multicast": "router",
    "old_release_1_0_4": "router peer",
    "peers_gossip": "peer0 peer1 peer2",
    "routers_ring": "router0 router1 router2 router3",
}
"""Captures in which HELLO or link state announces the locators of these nodes."""


@pytest.mark.parametrize("name", PATHS)
def test_nodes_are_those_of_the_sidecar(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    rows = {row["zid"]: row["role"] for row in tables.of(name, "nodes")}
    assert len(rows) == len(tables.of(name, "nodes"))
    hidden = NOT_SEEN.get(name, "").split()
    wanted = {zid: sidecar.roles[zid] for node, zid in sidecar.zids.items() if node not in hidden}
    known = {zid: role for zid, role in rows.items() if zid in sidecar.roles}
    assert known == wanted
    assert len(rows) - len(known) == REFUSED.get(name, 0)
    assert all(role == "client" for zid, role in rows.items() if zid not in known)


@pytest.mark.parametrize("name", PATHS)
def test_locators_are_the_listening_addresses(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    listening = {row["zid"]: {*row["listen"]} for row in sidecar.nodes}
    found = {
        row["zid"]: {*row["locators"].split()}
        for row in tables.of(name, "nodes")
        if row["locators"] is not None
    }
    located = LOCATED.get(name, "").split()
    assert found == {sidecar.zids[node]: listening[sidecar.zids[node]] for node in located}


@pytest.mark.parametrize("name", PATHS)
def test_nodes_were_seen_from_their_first_message_to_their_last(tables: Tables, name: str) -> None:
    """Messages that announce a node count too."""
    (capture,) = tables.of(name, "captures")
    messages = tables.of(name, "messages")
    for row in tables.of(name, "nodes"):
        assert capture["first_ns"] <= row["first_ns"] <= row["last_ns"] <= capture["last_ns"]
        times = [one["time_ns"] for one in messages if one["sender_zid"] == row["zid"]]
        assert row["first_ns"] <= min(times)
        assert row["last_ns"] >= max(times)


@pytest.mark.parametrize("name", ["multicast", "cooked_v1", "cooked_v2"])
def test_scouting_is_answered(tables: Tables, name: str) -> None:
    """SCOUT and HELLO belong to no session; a HELLO has the id of its sender."""
    sidecar = sidecar_of(name)
    rows = [row for row in tables.of(name, "messages") if row["kind"] in ("SCOUT", "HELLO")]
    assert {row["kind"] for row in rows} == {"SCOUT", "HELLO"}
    assert all(row["session"] is None for row in rows)
    protocols = tables.protocols(name)
    assert {protocols[row["link"]] for row in rows} == {"scouting"}
    hellos = {row["sender_zid"] for row in rows if row["kind"] == "HELLO"}
    assert hellos == {sidecar.zids["router"]}
    for scout in sidecar.of("scout"):
        assert hellos == {hello["zid"] for hello in scout["hellos"]}
