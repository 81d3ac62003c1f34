"""A client of our router receives its own token once, only from its own session.

Routers of 1.10 send a client its own tokens too. Its session then reports them twice: `get` of
liveliness replies twice, and a later subscriber gets DELETE twice.

A node that holds a token does not receive its end when another holder ends: sessions of
eclipse-zenoh would consider the token ended. Routers of 1.10 send it to peers.
"""

from __future__ import annotations

import pytest

from tests.interop.puppets import Kind, borrow, give_back, ours, settings, theirs
from tests.ports import free_endpoint
from tests.waiting import until

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real


@pytest.mark.parametrize("kind", [ours(), *theirs()], ids=lambda kind: kind.name)
def test_a_client_does_not_receive_its_own_token_twice(kind: Kind) -> None:
    endpoint = free_endpoint()
    router, client = borrow(ours()), borrow(kind)
    try:
        router.open(**settings("router", **{"listen/endpoints": [endpoint]}))
        client.open_linked(**settings("client", **{"connect/endpoints": [endpoint]}))
        client.ask("token", name="token", key="tok/a")
        until(lambda: router.ask("alive", key="tok/*") == {"keys": ["tok/a"]})
        client.ask("watch", name="events", key="tok/*")
        assert client.ask("alive", key="tok/*") == {"keys": ["tok/a"]}
        client.ask("undeclare", name="token")
        assert client.items("events", 1) == [["DELETE", "tok/a"]]
        give_back(router)
        give_back(client)
    except BaseException:
        router.kill()
        client.kill()
        raise


@pytest.mark.parametrize("mode", ["client", "peer"])
def test_the_end_of_another_holder_does_not_end_an_own_token(mode: str) -> None:
    kind = theirs()[0]
    endpoint = free_endpoint()
    router, node, twin = borrow(ours()), borrow(kind), borrow(ours())
    try:
        router.open(**settings("router", **{"listen/endpoints": [endpoint]}))
        node.open_linked(**settings(mode, **{"connect/endpoints": [endpoint]}))
        twin.open_linked(**settings("client", **{"connect/endpoints": [endpoint]}))
        node.ask("watch", name="events", key="tok/*", history=True)
        node.ask("token", name="own", key="tok/a")
        twin.ask("token", name="twin", key="tok/a")
        twin.ask("token", name="mark", key="tok/b")
        heard = [["PUT", "tok/a"], ["PUT", "tok/b"]]
        assert node.items("events", 2) == heard
        twin.ask("undeclare", name="twin")
        twin.ask("undeclare", name="mark")
        heard.append(["DELETE", "tok/b"])
        assert node.items("events", 3) == heard
        node.ask("undeclare", name="own")
        heard.append(["DELETE", "tok/a"])
        assert node.items("events", 4) == heard
        for one in (router, node, twin):
            give_back(one)
    except BaseException:
        for one in (router, node, twin):
            one.kill()
        raise
