"""Traffic of our nodes, captured and read by our own decoder: every byte decodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.interop.cases import CASES
from tests.interop.puppets import borrowed, ours, settings, theirs
from tests.interop.tap import Tap
from tests.ports import free_port
from zenlake import rules, trace
from zenlake.rules import NOTE
from zenlake.trace.events import MessageSeen, Missing, SessionChanged, Undecoded

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

CHOSEN = (
    "everything_a_sample_carries",
    "declared_publishers_and_wildcards",
    "ten_megabytes",
    "many_replies_and_consolidation",
    "a_timeout",
    "liveliness",
    "matching",
)
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "compression": {"transport/unicast/compression/enabled": True},
    "low latency": {"transport/unicast/lowlatency": True, "transport/unicast/qos/enabled": False},
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("mode", ["client", "peer"])
def test_all_traffic_of_our_nodes_is_decoded(mode: str, option: str, tmp_path: Path) -> None:
    [other, *_] = theirs()
    options = OPTIONS[option]
    path = tmp_path / "own.pcapng"
    port = free_port()
    endpoint = f"tcp/127.0.0.1:{port}"
    with borrowed(other, other, ours()) as (router, friend, node), Tap(path, port) as tap:
        router.open(**settings("router", **{"listen/endpoints": [endpoint]}, **options))
        connecting = {"connect/endpoints": [f"tcp/127.0.0.1:{tap.port}"], **options}
        for name in CHOSEN:
            if option == "low latency" and name == "ten_megabytes":
                continue  # with low latency a message is one unit
            node.open(**settings(mode, **connecting))
            friend.open(**settings("client", **{"connect/endpoints": [endpoint]}))
            CASES[name](node, friend)
            node.ask("close")
            friend.ask("close")
    read(path)


def read(path: Path) -> None:
    sessions = set()
    messages = 0
    for event in trace.open(str(path)):
        assert not isinstance(event, Undecoded), event
        assert not isinstance(event, Missing), event
        if isinstance(event, MessageSeen):
            messages += 1
            assert not event.ignored, event
        if isinstance(event, SessionChanged):
            sessions.add(event.session)
    broken = [one for one in rules.check(trace.open(str(path))) if one.rule.severity != NOTE]
    assert not broken, broken
    assert messages > 300
    assert len(sessions) >= len(CHOSEN) - 1
