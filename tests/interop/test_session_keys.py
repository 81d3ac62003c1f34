"""`@/<zid>/session/**` of our session has the bytes that a real one has in the same place."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.interop.puppets import Kind, PuppetProcess, borrow, give_back, ours, settings, theirs
from tests.ports import free_endpoint

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

SELECTORS = [
    "@/a1/session/**",
    "@/a1/session/transport/unicast/b2",
    "@/*/session/*/unicast/*/link/*",
    "@/**/link/**",
    "@/a1/session/transport/multicast/**",
    "@/b2/session/**",
]
NEIGHBOURS: dict[str, dict[str, Any]] = {
    "client": {"mode": "client"},
    "peer": {"mode": "peer"},
    "without QoS": {"mode": "client", "transport/unicast/qos/enabled": False},
}
EVENTS = 4
"""A transport and its link open, and close."""


def plain(sample: dict[str, Any]) -> dict[str, Any]:
    """Without random values and intended differences: shared memory, and the size of batches
    instead of the path's MTU."""
    text = bytes.fromhex(sample["payload"]).decode()
    text = re.sub(r"tcp/127\.0\.0\.1:\d+", "ENDPOINT", text)
    text = re.sub(r'"mtu":\d+', '"mtu":N', text)
    sample["payload"] = text.replace('"is_shm":true', '"is_shm":false')
    sample["key"] = re.sub(r"/link/\d+$", "/link/N", sample["key"])
    return sample


def all_seen(kind: Kind, mode: str, neighbour: dict[str, Any]) -> dict[str, Any]:
    endpoint = free_endpoint()
    node, other = borrow(kind), borrow(theirs()[0])
    try:
        found = _all_seen(node, other, mode, endpoint, dict(neighbour))
        give_back(node)
        give_back(other)
    except BaseException:
        node.kill()
        other.kill()
        raise
    return found


def _all_seen(
    node: PuppetProcess, other: PuppetProcess, mode: str, endpoint: str, neighbour: dict[str, Any]
) -> dict[str, Any]:
    listening = {"id": "a1", "listen/endpoints": [endpoint]}
    connecting = {"id": "b2", "connect/endpoints": [endpoint]}
    node.open(**settings(mode, **listening))
    node.ask("subscribe", name="events", key="@/a1/session/**")
    node.ask("subscribe", name="from others", key="@/a1/session/**", allowed_origin="REMOTE")
    other.open_linked(**settings(neighbour.pop("mode"), **connecting, **neighbour))
    events = [plain(one) for one in node.items("events", EVENTS // 2, quiet=0)]
    asked: dict[str, Any] = {}
    for selector in SELECTORS:
        replies = node.ask("whole", selector=selector)["replies"]
        for reply in replies:
            reply["replier"] = reply["replier"][0]  # how many entities come first is theirs
        asked[selector] = sorted(map(plain, replies), key=lambda one: str(one["key"]))
    node.ask("querier", name="asker", key="@/a1/session/**", target="ALL_COMPLETE")
    matching = node.ask("is_matching", name="asker")
    remote = other.ask("whole", selector="@/a1/session/**")["replies"]
    other.ask("close")
    events += [plain(one) for one in node.items("events", EVENTS)[EVENTS // 2 :]]
    silent = node.items("from others", 0)
    return {"events": events, **asked, "match": matching, "remote": remote, "others": silent}


@pytest.mark.parametrize("mode", ["peer", "router"])
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_answers_and_events_are_those_of_a_real_session(mode: str, neighbour: str) -> None:
    mine = all_seen(ours(), mode, NEIGHBOURS[neighbour])
    real = all_seen(theirs()[0], mode, NEIGHBOURS[neighbour])
    assert len(real["events"]) == EVENTS
    assert len(real["@/a1/session/**"]) == 2
    assert mine == real
