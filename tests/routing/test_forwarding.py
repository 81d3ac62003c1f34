"""What is forwarded keeps everything it carries, whatever that is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.playbook import Play, queryable, request, subscriber
from zenlake.testing.strategies import message
from zenlake.wire import NetworkMessage, Push, Put, Request, Response, WireExpr

CHANGED = {
    "Push": {"key", "node_id", "stamps"},
    "Request": {"request_id", "key", "node_id", "stamps"},
    "Response": {"request_id", "key", "qos", "stamps"},
}
"""What a hop writes anew; everything else, extensions that nobody knows included, is copied."""


def kept(message: NetworkMessage) -> dict[str, object]:
    return {
        name: getattr(message, name)
        for name in message.FIELDS
        if name not in CHANGED[type(message).__name__]
    }


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.one_of(message("Push"), message("Request"), message("Response")))
def test_a_forwarded_message_keeps_all_but_what_the_hop_writes(
    original: Push | Request | Response,
) -> None:
    original.key = WireExpr(0, "k")
    play = Play("router", gossip=False)
    play.enters("c", "client")
    play.enters("p", "peer")
    play.says("p", subscriber(1, "k"), queryable(1, "k", complete=True))
    if isinstance(original, Response):
        play.says("c", request(1, "k"))
        play.forget()
        original.request_id = 1
        play.says("p", original)
        (copy,) = play.takes("c")
    else:
        play.says("c", original)
        (copy,) = play.takes("p")
    assert kept(copy) == kept(original)


def test_what_the_clock_stamps_keeps_everything_else() -> None:
    play = Play("router", gossip=False, timestamping=True, wall_ns=lambda: 10**18)
    play.enters("c", "client")
    play.enters("p", "peer")
    play.says("p", subscriber(1, "k"))
    original = Push(WireExpr(0, "k"), Put(b"x", attachment=b"a"))
    play.says("c", original)
    (copy,) = play.takes("p")
    assert isinstance(copy, Push)
    assert isinstance(copy.body, Put)
    assert copy.body.timestamp is not None
    copy.body.timestamp = None
    assert copy == original
    assert original.body is not copy.body
