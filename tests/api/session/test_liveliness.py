"""`Liveliness` through the API (behaviour reference §2.8, §7.2)."""

from __future__ import annotations

import pytest

from tests.api.memory import MemoryNetwork
from zenlake import CongestionControl, Priority, SampleKind, ZError
from zenlake.wire import WhatAmI


@pytest.mark.parametrize("role", [WhatAmI.PEER, WhatAmI.CLIENT])
def test_token_is_found_and_its_changes_are_reported(role: WhatAmI) -> None:
    network = MemoryNetwork()
    a, b = network.open(), network.open(role)
    token = a.liveliness().declare_token("t/1")
    for session in (a, b):
        (reply,) = session.liveliness().get("t/*")
        assert reply.ok is not None
        assert (str(reply.ok.key_expr), reply.ok.kind) == ("t/1", SampleKind.PUT)
        assert reply.replier_id is None
    past = b.liveliness().declare_subscriber("t/**", history=True)
    future = b.liveliness().declare_subscriber("t/**")
    sample = past.recv()
    assert sample.payload == b""
    assert sample.encoding == "zenoh/bytes"
    assert sample.timestamp is None
    assert (sample.priority, sample.congestion_control) == (Priority.DATA, CongestionControl.DROP)
    assert past.key_expr == "t/**"
    assert future.try_recv() is None
    token.undeclare()
    with pytest.raises(ZError, match=r"^Undeclared LivelinessToken$"):
        token.undeclare()
    for subscriber in (past, future):
        assert subscriber.recv().kind is SampleKind.DELETE
    with a.liveliness().declare_token("t/2"):
        assert future.recv().key_expr == "t/2"
    assert future.recv().kind is SampleKind.DELETE
    assert list(b.liveliness().get("t/*")) == []


def test_closing_a_session_removes_its_tokens() -> None:
    network = MemoryNetwork()
    a, b = network.open(), network.open()
    watcher = b.liveliness().declare_subscriber("**", history=True)
    token = a.liveliness().declare_token("t")
    a.close()
    assert [watcher.recv().kind, watcher.recv().kind] == [SampleKind.PUT, SampleKind.DELETE]
    token.undeclare()
