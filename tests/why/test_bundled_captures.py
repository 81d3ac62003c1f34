"""Deliveries in real captures: stories compared with what the callbacks recorded."""

from __future__ import annotations

import pytest

from tests.trace.sidecar import PATHS, sidecar_of
from zenlake.why import CaptureStories, Scope, Story, report
from zenlake.why.from_capture import read_capture

BLIND = {
    "encrypted_links",  # subscribers are behind TLS, QUIC and WebSocket
    "fragments",  # the publisher's link only
    "peers_gossip",  # an application runs in the router
    "multicast",  # as well
    "impaired",
    "snaplen",
    "midstream",
    "compressed_midstream",
    "lowlatency_midstream",
}
"""Captures that lack a link, or packets of one."""
FAILING = {
    "compression": {"no_queryable"},
    "liveliness": {"session_lost"},
    "old_release_1_0_4": {"no_queryable", "error"},
    "pico_1_0_4": {"no_queryable"},
    "pico_clients": {"no_queryable", "error"},
    "pico_peers": {"stale_sn", "lost_on_link"},
    "pico_reopened": {"lease_exceeded"},
    "queries": {"no_queryable", "no_reply", "error", "timeout"},
    "reconnect": {"router_died"},
    "ros2": {"no_subscriber", "session_lost"},
    "sessions": {"no_subscriber", "lease_exceeded", "refused_authentication"},
}
"""All failures in these captures; the other captures have none."""


def report_of(name: str, scope: Scope) -> CaptureStories:
    return report(read_capture(str(PATHS[name]), scope), scope)


def publications(name: str) -> list[Story]:
    """Stories of publications on links between two nodes; in a group, all members get them."""
    made = report_of(name, Scope(key="**"))
    return [
        story
        for story in made.stories
        if story.subject == "publication"
        and made.evidence.sessions[story.session or ""].protocol != "multicast"
    ]


def received(name: str) -> dict[str, set[str]]:
    """By key, the nodes whose callbacks received a publication on it."""
    sidecar = sidecar_of(name)
    got: dict[str, set[str]] = {}
    for row in sidecar.received:
        got.setdefault(row["key"], set()).add(sidecar.zids[row["node"]])
    return got


@pytest.mark.parametrize("name", PATHS)
def test_named_receivers_have_received_the_publication(name: str) -> None:
    got = received(name)
    for story in publications(name):
        assert set(story.reached) <= got.get(story.key or "", set()), story.headline


@pytest.mark.parametrize("name", sorted(PATHS.keys() - BLIND))
def test_every_receiver_is_named(name: str) -> None:
    got = received(name)
    reached: dict[str, set[str]] = {}
    for story in publications(name):
        reached.setdefault(story.key or "", set()).update(story.reached)
        reached[story.key or ""].update(story.nodes[:1])  # a publisher may subscribe as well
    for key, zids in reached.items():
        assert got.get(key, set()) <= zids, key


@pytest.mark.parametrize("name", PATHS)
def test_exactly_the_known_failures_are_found(name: str) -> None:
    made = report_of(name, Scope())
    assert {story.cause for story in made.stories if story.failed} == FAILING.get(name, set())


def test_enough_deliveries_are_compared() -> None:
    stories = [story for name in PATHS for story in publications(name)]
    assert sum(story.cause == "delivered" for story in stories) >= 250
