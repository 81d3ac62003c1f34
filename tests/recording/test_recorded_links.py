"""A node records its links, whatever was agreed on them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import zenlake
from tests.api.linked import node_of
from tests.links.certificates import Authority, needs_openssl
from tests.recording.recorded_values import losses
from tests.sessions import config_of
from tests.waiting import until
from zenlake import trace
from zenlake.capture.recordings import segments
from zenlake.trace import MessageSeen, SessionChanged
from zenlake.wire import Push, Put

LINKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "compressed": {"transport/unicast/compression/enabled": True},
    "low latency": {
        "transport/unicast/lowlatency": True,
        "transport/unicast/qos/enabled": False,
    },
    "datagrams": {},
}


@pytest.mark.parametrize("name", [*LINKS, pytest.param("encrypted", marks=needs_openssl)])
def test_router_records_both_directions(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    protocol = {"datagrams": "udp", "encrypted": "tls"}.get(name, "tcp")
    agreed = LINKS.get(name, {})
    if name == "encrypted":
        authority = Authority(tmp_path_factory.mktemp("certificates"))
        certificate, private_key = authority.issue("localhost", "IP:127.0.0.1")
        agreed = {
            "transport/link/tls/root_ca_certificate": str(authority.certificate),
            "transport/link/tls/listen_certificate": str(certificate),
            "transport/link/tls/listen_private_key": str(private_key),
        }
    config = config_of(
        "router",
        listen__endpoints=[f"{protocol}/127.0.0.1:0"],
        recording={"path": str(tmp_path), "segment_bytes": 20_000},
        **agreed,
    )
    count = 300
    with zenlake.open(config) as router:
        client = config_of("client", connect__endpoints=node_of(router).locators(), **agreed)
        with zenlake.open(client) as sender, zenlake.open(client) as receiver:
            found: list[bytes] = []
            receiver.declare_subscriber("robot/*", lambda one: found.append(one.payload.to_bytes()))
            time.sleep(0.3)
            publisher = sender.declare_publisher("robot/arm")
            large = 0 if name == "low latency" else 100_000
            for number in range(count):
                size = large if number == 100 else 50
                publisher.put(number.to_bytes(8, "big") + b"x" * size)
                time.sleep(0.0005)
            until(lambda: len(found) >= count)
    recorded: dict[tuple[str, int], list[int]] = {}
    with trace.open(str(tmp_path)) as capture:
        for event in capture:
            if isinstance(event, MessageSeen) and isinstance(event.message, Push):
                body = event.message.body
                assert isinstance(body, Put)
                assert event.key == "robot/arm"
                number = int.from_bytes(body.payload[:8], "big")
                recorded.setdefault((event.link.name, event.direction), []).append(number)
        assert not capture.is_damaged
        assert capture.undecoded == {}
    assert sorted(len(one) for one in recorded.values()) == [count, count]
    assert all(one == list(range(count)) for one in recorded.values())
    assert losses(tmp_path) == []
    assert {one.is_sealed for one in segments(str(tmp_path))} == {True}


@pytest.mark.real
def test_real_peer_with_two_links_has_one_session_in_the_recording(tmp_path: Path) -> None:
    """Our node accepts one link from a node, even if that node offers several."""
    import zenoh

    endpoint = "tcp/127.0.0.1:0"
    ours = config_of(
        "router", listen__endpoints=[endpoint, endpoint], recording__path=str(tmp_path)
    )
    with zenlake.open(ours) as router:
        theirs = config_of(
            "peer",
            zenoh,
            connect__endpoints=node_of(router).locators(),
            listen__endpoints=[endpoint],
            transport__unicast__max_links=2,
        )
        with zenoh.open(theirs) as peer:
            zid = str(peer.info.zid())
            until(lambda: any("refused" in one for one in ends(tmp_path)), 20)
            peer.put("a", b"x")
    assert "opened" in ends(tmp_path)
    with trace.open(str(tmp_path)) as capture:
        keys_seen = [
            event.key
            for event in capture
            if isinstance(event, MessageSeen) and isinstance(event.message, Push)
        ]
        opened = [one for one in capture.sessions if one.outcome == "closed"]
        refused = [one for one in capture.sessions if one.outcome == "refused"]
    assert keys_seen == ["a"]
    assert [(len(one.links), one.nodes[0].zid, one.multilink) for one in opened] == [
        (1, zid, False)
    ]
    assert refused
    assert {(len(one.links), one.close_reason) for one in refused} == {(1, "max_links")}


def ends(folder: Path) -> list[str]:
    """How the sessions of a recording that grows have begun and ended so far."""
    with trace.open(str(folder)) as capture:
        return [event.change for event in capture if isinstance(event, SessionChanged)]
