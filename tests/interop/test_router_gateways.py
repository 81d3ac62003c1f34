"""A real peer on two of our routers: all messages are received once, both ways (§4.4).

Deployed routers deliver some of them twice (SN-112), so the other gateway is ours as well.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

from tests.interop.linkstate import rest
from tests.interop.puppets import Kind, PuppetProcess, attached, ours, routers, settings, theirs

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"
INSTALLED = theirs()[0]
TRIANGLE = ((0, 1), (1, 2), (0, 2))


@pytest.mark.parametrize("peer", theirs() if IS_FULL else [INSTALLED], ids=lambda one: one.name)
@pytest.mark.parametrize(
    "third", [ours(), *theirs()] if IS_FULL else [INSTALLED], ids=lambda one: one.name
)
def test_messages_of_a_peer_with_two_gateways_are_received_once(peer: Kind, third: Kind) -> None:
    gossip = {"scouting/gossip/enabled": True}
    with ExitStack() as stack:
        kinds = (ours(), ours(), third)
        _, endpoints = stack.enter_context(routers(kinds, TRIANGLE, [gossip] * 3))
        nodes: dict[str, PuppetProcess] = {}
        for number, endpoint in enumerate(endpoints):
            nodes[f"c{number}"] = stack.enter_context(attached(INSTALLED, "client", endpoint))
        nodes["p"] = PuppetProcess(peer)
        stack.callback(nodes["p"].kill)
        nodes["p"].open(**settings("peer", **{**gossip, "connect/endpoints": endpoints[:2]}))
        rest()
        for name, one in nodes.items():
            one.ask("subscribe", name="s", key="d/**")
            answer = [{"key": f"q/{name}", "value": "01"}]
            one.ask("queryable", name="q", key=f"q/{name}", replies=answer)
        rest()
        for name, one in nodes.items():
            one.ask("put", key=f"d/{name}", payload="01")
        rest()
        for name, one in nodes.items():
            heard = sorted(sample["key"] for sample in one.items("s", 0))
            assert heard == ["d/c0", "d/c1", "d/c2", "d/p"], name
            replies = one.ask("get", selector="q/*", target="ALL", consolidation="NONE")["replies"]
            keys = sorted(reply["ok"]["key"] for reply in replies)
            assert keys == ["q/c0", "q/c1", "q/c2", "q/p"], name
        nodes["p"].ask("watch", name="w", key="t/**", history=True)
        nodes["p"].ask("token", name="t", key="t/p")
        rest()  # for each gateway to receive it from the other
        nodes["p"].ask("undeclare", name="t")
        rest()
        assert nodes["p"].items("w", 0) == [["PUT", "t/p"], ["DELETE", "t/p"]]


@pytest.mark.parametrize("killed", [0, 1] if IS_FULL else [0])
def test_tokens_stay_when_one_of_two_gateways_ends(killed: int) -> None:
    """With deployed routers they end with the primary gateway, here the second (SN-115)."""
    gossip = {"scouting/gossip/enabled": True}
    options = [{**gossip, "id": zid} for zid in ("a1", "b2", "c3")]
    with ExitStack() as stack:
        held, endpoints = stack.enter_context(
            routers((ours(), ours(), INSTALLED), TRIANGLE, options)
        )
        client = stack.enter_context(attached(INSTALLED, "client", endpoints[2]))
        peer = PuppetProcess(INSTALLED)
        stack.callback(peer.kill)
        peer.open(**settings("peer", **{**gossip, "connect/endpoints": endpoints[:2]}))
        rest(4)
        for node in (client, peer):
            node.ask("watch", name="w", key="t/**", history=True)
        peer.ask("token", name="t", key="t/peer")
        client.ask("token", name="t", key="t/client")
        expected = [["PUT", "t/client"], ["PUT", "t/peer"]]
        for name, node in (("client", client), ("peer", peer)):
            assert sorted(node.items("w", 2)) == expected, name
        rest(4)  # for all routers to receive it from both gateways
        held[killed].kill()
        rest(2)
        for name, node in (("client", client), ("peer", peer)):
            assert sorted(node.items("w", 2)) == expected, name
