"""Nodes find each other, and reconnect."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from tests.interop.puppets import Kind, PuppetProcess, ours, settings, theirs
from tests.ports import free_endpoint, free_group_port
from tests.waiting import until

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

HELLO = b"hello".hex()
FOUND_SECONDS = 8.0


def opened(stack: ExitStack, kind: Kind, mode: str, **config: Any) -> PuppetProcess:
    node = PuppetProcess(kind)
    stack.callback(node.kill)
    node.open(**settings(mode, **config))
    return node


def assert_published(a: PuppetProcess, b: PuppetProcess) -> None:
    """Assert that a publication of `a` reaches `b`."""
    b.ask("subscribe", name="s", key="demo/**")
    a.ask("publisher", name="p", key="demo/x")
    until(lambda: a.ask("is_matching", name="p")["matching"])
    a.ask("put", key="demo/x", payload=HELLO)
    assert len(b.items("s", 1)) == 1


def wait_until_peers(node: PuppetProcess, count: int) -> list[str]:
    until(lambda: len(node.ask("info")["peers"]) >= count, FOUND_SECONDS)
    peers: list[str] = node.ask("info")["peers"]
    return peers


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_peers_find_each_other_by_multicast(first: str) -> None:
    [other, *_] = theirs()
    kinds = (ours(), other) if first == "ours" else (other, ours())
    config = {
        "scouting/multicast/enabled": True,
        "scouting/multicast/address": f"224.0.0.224:{free_group_port()}",
        "scouting/multicast/interface": "lo",
        "listen/endpoints": ["tcp/127.0.0.1:0"],
    }
    with ExitStack() as stack:
        a, b = (opened(stack, kind, "peer", **config) for kind in kinds)
        assert wait_until_peers(a, 1) == [b.zid]
        assert wait_until_peers(b, 1) == [a.zid]
        assert_published(a, b)


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_client_finds_its_router(side: str) -> None:
    [other, *_] = theirs()
    config = {
        "scouting/multicast/enabled": True,
        "scouting/multicast/address": f"224.0.0.224:{free_group_port()}",
        "scouting/multicast/interface": "lo",
    }
    with ExitStack() as stack:
        listening = {**config, "listen/endpoints": ["tcp/127.0.0.1:0"]}
        gateway, mode = (other, "router") if side == "ours" else (ours(), "peer")
        node = opened(stack, gateway, mode, **listening)
        client = opened(stack, ours() if side == "ours" else other, "client", **config)
        info = client.ask("info")
        assert node.zid in info["routers"] + info["peers"]


@pytest.mark.parametrize("middle", ["ours", "theirs"])
def test_peers_find_each_other_by_gossip(middle: str) -> None:
    """Two peers are connected to a third one, which announces each to the other."""
    [other, *_] = theirs()
    endpoint = free_endpoint()
    config = {"scouting/gossip/enabled": True}
    kinds = (ours(), other) if middle == "ours" else (other, ours())
    with ExitStack() as stack:
        opened(stack, kinds[0], "peer", **config, **{"listen/endpoints": [endpoint]})
        ends = {**config, "listen/endpoints": ["tcp/127.0.0.1:0"], "connect/endpoints": [endpoint]}
        a, b = (opened(stack, kind, "peer", **ends) for kind in (other, ours()))
        assert b.zid in wait_until_peers(a, 2)
        assert a.zid in wait_until_peers(b, 2)
        assert_published(a, b)


def declare_all(node: PuppetProcess) -> None:
    node.ask("subscribe", name="s", key="demo/**")
    node.ask("queryable", name="q", key="ask/me", replies=[{"key": "ask/me", "value": HELLO}])
    node.ask("token", name="t", key="group/me")
    node.ask("watch", name="w", key="group/**", history=True)
    node.ask("publisher", name="p", key="news/me")


def is_alive(observer: PuppetProcess, key: str) -> bool:
    return bool(observer.ask("alive", key="group/**")["keys"] == [key])


def test_everything_declared_is_restored_when_the_router_comes_back() -> None:
    [other, *_] = theirs()
    endpoint = free_endpoint()
    listening = {"listen/endpoints": [endpoint]}
    connecting = {"connect/endpoints": [endpoint], "connect/retry/period_init_ms": 200}
    with ExitStack() as stack:
        router = opened(stack, other, "router", **listening)
        client = opened(stack, ours(), "client", **connecting)
        declare_all(client)
        for _ in range(2):
            router.kill()
            router = opened(stack, other, "router", **listening)
            friend = opened(stack, other, "client", **{"connect/endpoints": [endpoint]})
            friend.ask("subscribe", name="news", key="news/**")
            until(partial(is_alive, friend, "group/me"), FOUND_SECONDS)
            before = len(client.items("s", 0, quiet=0))
            friend.ask("put", key="demo/x", payload=HELLO)
            assert len(client.items("s", before + 1)) == before + 1
            [answer] = friend.ask("get", selector="ask/me")["replies"]
            assert answer["ok"]["payload"] == HELLO
            client.ask("publish", name="p", payload=HELLO)
            assert len(friend.items("news", 1)) == 1
        watched = client.items("w", 5)
        assert watched[0] == ["PUT", "group/me"]
