"""Our nodes and a real router: messages arrive, and a router that is killed is found again."""

from __future__ import annotations

import pytest

from tests.node.application import BLOCK, Application, opened, settings_of, until_routed
from tests.node_process import NodeProcess
from tests.ports import free_endpoint
from tests.waiting import until
from zenlake.wire import WhatAmI


def until_routed_from(node: NodeProcess, application: Application) -> None:
    """Wait until publications reach the application, then clear what it received."""

    def is_received() -> bool:
        node.put("demo/probe", "probe")
        return bool(application.payloads())

    until(is_received)
    node.put("demo/probe", "last")
    until(lambda: application.payloads()[-1] == b"last")
    application.got.clear()


@pytest.mark.parametrize("role", [WhatAmI.CLIENT, WhatAmI.PEER])
def test_put_arrives_and_a_restarted_router_is_found_again(role: WhatAmI) -> None:
    endpoint = free_endpoint()
    settings = settings_of(role, [endpoint], listen=[])
    router = NodeProcess("router", listen__endpoints=[endpoint])
    try:
        with opened(settings) as [node]:
            application = Application(node)
            application.subscribe("demo/**")
            until(lambda: len(node.runners) == 1)
            with NodeProcess("client", connect__endpoints=[endpoint]) as client:
                until_routed_from(client, application)
                client.put("demo/one", "1")
                assert application.wait_for(1) == [b"1"]
            router.kill()
            until(lambda: not node.runners)
            router = NodeProcess("router", listen__endpoints=[endpoint])
            until(lambda: len(node.runners) == 1, 6.0)
            with NodeProcess("client", connect__endpoints=[endpoint]) as client:
                until_routed_from(client, application)
                client.put("demo/two", "2")
                assert application.wait_for(1) == [b"2"]
    finally:
        router.kill()


def test_two_of_ours_through_a_real_router() -> None:
    endpoint = free_endpoint()
    with NodeProcess("router", listen__endpoints=[endpoint]):
        clients = [settings_of(WhatAmI.CLIENT, [endpoint]) for _ in "ab"]
        with opened(*clients) as (left, right):
            receiver, sender = Application(left), Application(right)
            receiver.subscribe("demo/**")
            until_routed(sender, "demo/key", receiver)
            for number in range(5000):
                sender.put("demo/key", number.to_bytes(2, "big"), BLOCK)
            sender.put("demo/long", bytes(3_000_000), BLOCK)
            payloads = receiver.wait_for(5001)
            assert payloads == [n.to_bytes(2, "big") for n in range(5000)] + [bytes(3_000_000)]


def test_a_real_peer_connects_to_ours() -> None:
    settings = settings_of()
    with opened(settings) as [node]:
        application = Application(node)
        application.subscribe("demo/**")
        with NodeProcess("peer", connect__endpoints=node.locators()) as peer:
            until(lambda: len(node.runners) == 1)
            until_routed_from(peer, application)
            peer.put("demo/one", "1")
            assert application.wait_for(1) == [b"1"]
        until(lambda: not node.runners)
