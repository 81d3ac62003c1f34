"""A client of our router hears of its own token once, from its own session alone.

Routers of 1.10 send a client its own tokens too. Its session then tells the application twice:
`get` of liveliness replies twice, and one that subscribes later hears DELETE twice.
"""

from __future__ import annotations

import pytest

from tests.interop.puppets import Kind, borrow, free_port, give_back, ours, settings, theirs
from tests.node.application import wait_until

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real


@pytest.mark.parametrize("kind", [ours(), *theirs()], ids=lambda kind: kind.name)
def test_a_client_is_not_told_twice_of_its_own_token(kind: Kind) -> None:
    endpoint = f"tcp/127.0.0.1:{free_port()}"
    router, client = borrow(ours()), borrow(kind)
    try:
        router.open(**settings("router", **{"listen/endpoints": [endpoint]}))
        client.open_linked(**settings("client", **{"connect/endpoints": [endpoint]}))
        client.ask("token", name="token", key="tok/a")
        wait_until(lambda: router.ask("alive", key="tok/*") == {"keys": ["tok/a"]})
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
