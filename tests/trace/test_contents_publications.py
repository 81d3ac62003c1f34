"""Every put and delete of the sidecars is found, and every sample that a subscriber received."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.trace.publications import (
    PUSHES,
    Publication,
    called,
    calls_of,
    counted,
    delivered,
    deliveries_of,
    seen,
    sent_by,
)
from tests.trace.sidecar import WITH_COUNTS, Reading, Row, Sidecar, reading_of, sidecar_of
from zenlake.keyexpr import intersects

LOSSY = ["impaired", "midstream", "snaplen"]
PUBLISHING = [
    name for name in WITH_COUNTS if name not in LOSSY and sidecar_of(name).of("put", "delete")
]
DELIVERING = [name for name in WITH_COUNTS if name not in LOSSY and deliveries_of(sidecar_of(name))]


def needed_by(sidecar: Sidecar, row: Row) -> int:
    """How often a peer sends a put: once to each other node with a matching subscriber."""
    subscribed = {
        other["node"]
        for other in sidecar.of("declare_subscriber")
        if other["node"] != row["node"] and intersects(other["key"], row["key"])
    }
    # Each peer of this capture knows all nodes except the router, which only the first peer knows.
    return len(subscribed - (set() if row["node"] == "peer0" else {"router"}))


def test_captures_have_publications() -> None:
    assert len(PUBLISHING) == 12
    assert len(DELIVERING) == 11


@pytest.mark.parametrize("name", [name for name in PUBLISHING if name != "peers_gossip"])
def test_each_call_has_one_message_on_its_link(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    publishers = {row["node"] for row in sidecar.of("put", "delete")}
    assert publishers
    for node in publishers:
        assert sidecar.roles[sidecar.zids[node]] != "router"
        assert counted(sent_by(reading, sidecar.zids[node])) == calls_of(sidecar, node)


def test_each_call_of_a_peer_has_one_message_on_each_link_that_needs_it() -> None:
    sidecar, reading = sidecar_of("peers_gossip"), reading_of("peers_gossip")
    for node in ("peer0", "peer1", "peer2"):
        wanted: Counter[Publication] = Counter()
        for row in sidecar.of("put"):
            if row["node"] == node:
                wanted[called(row)] += needed_by(sidecar, row)
        assert wanted
        found = sent_by(reading, sidecar.zids[node])
        assert counted(found) == wanted
        links = Counter((event.receiver_zid, seen(event)) for event in found)
        assert set(links.values()) == {1}


def test_messages_over_a_websocket_are_found() -> None:
    """The sidecar lists their calls but does not count them."""
    sidecar, reading = sidecar_of("encrypted_links"), reading_of("encrypted_links")
    calls = [row for row in sidecar.events if row["op"] == "put" and row["node"] == "ws"]
    assert len(calls) == 10
    found = sent_by(reading, sidecar.zids["ws"])
    assert counted(found) == Counter(called(row) for row in calls)
    assert {event.link.protocol for event in found} == {"ws"}


def test_payloads_in_shared_memory_are_references() -> None:
    sidecar, reading = sidecar_of("sessions"), reading_of("sessions")
    calls = [row for row in sidecar.of("put") if row.get("payload_in_shared_memory")]
    assert len(calls) == 4
    found = [
        event for event in sent_by(reading, sidecar.zids["shm"]) if seen(event).payload is None
    ]
    assert counted(found) == Counter(called(row) for row in calls)


@pytest.mark.parametrize("name", DELIVERING)
def test_each_sample_has_a_message_on_a_captured_link(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    for (node, _), rows in deliveries_of(sidecar).items():
        arrived = arrived_at(sidecar, reading, node)
        missing = Counter(as_sent(sidecar, node, row) for row in rows) - arrived
        own = {
            called(row)._replace(reliability=None)
            for row in sidecar.of("put", "delete")
            if row["node"] == node
        }
        assert set(missing) <= own
        assert sum(missing.values()) < len(rows)


def arrived_at(sidecar: Sidecar, reading: Reading, node: str) -> Counter[Publication]:
    """Publications that were sent to a node, or to a group that it is a member of."""
    zid = sidecar.zids[node]
    return Counter(
        seen(event)._replace(reliability=None)
        for event in reading.of(*PUSHES)
        if event.receiver_zid == zid
        or (event.link.protocol == "multicast" and event.sender_zid != zid)
    )


def as_sent(sidecar: Sidecar, node: str, row: Row) -> Publication:
    """The sample on the wire: a router adds a timestamp only for its own subscribers."""
    sample = delivered(row)
    zid = sidecar.zids[node]
    if sidecar.roles[zid] == "router" and (sample.timestamp or "").endswith(f"/{zid}"):
        return sample._replace(timestamp=None)
    return sample
