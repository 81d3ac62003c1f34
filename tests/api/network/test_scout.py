"""`scout` finds sessions that listen (behaviour reference §4.8)."""

from __future__ import annotations

from typing import Any

import pytest

import zenlake
from tests.waiting import until
from zenlake import Config, Hello, WhatAmI, ZError
from zenlake.links.multicast import multicast_interfaces

pytestmark = pytest.mark.skipif(
    not multicast_interfaces("auto"), reason="no interface for multicast"
)


def a_group_of_our_own() -> Config:
    """A group other than the default one."""
    config = Config()
    config.insert_json5("scouting/multicast/address", '"224.0.0.225:17446"')
    config.insert_json5("scouting/multicast/autoconnect", "[]")
    return config


def test_scout_finds_a_listening_peer() -> None:
    config = a_group_of_our_own()
    seen: list[Hello] = []
    with zenlake.open(config) as session:
        scout = zenlake.scout(seen.append, what="peer", config=config)
        until(lambda: seen)
        scout.stop()
        hello = seen[0]
        assert hello.zid == session.zid()
        assert hello.whatami is WhatAmI.PEER
        assert all(locator.startswith("tcp/") for locator in hello.locators)
        assert str(hello).startswith(f"Hello {{ zid: {session.zid()}, whatami: Peer, locators: [")


def test_stopped_scout() -> None:
    scout: Any = zenlake.scout(what="router", config=a_group_of_our_own())
    with scout:
        assert scout.try_recv() is None
    for operation in (scout.stop, scout.recv, scout.try_recv, lambda: scout.handler):
        with pytest.raises(ZError, match=r"^Stopped scout$"):
            operation()
