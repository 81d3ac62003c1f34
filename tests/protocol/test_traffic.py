"""Traffic: messages and bytes by kind."""

from __future__ import annotations

from zenlake.protocol.traffic import KIND_NAMES, Traffic
from zenlake.wire import (
    Declare,
    DeclareFinal,
    Interest,
    InterestMode,
    NetworkMessage,
    Oam,
    Push,
    Put,
    Query,
    Reply,
    Request,
    Response,
    ResponseFinal,
    WireExpr,
    encode,
)

KEY = WireExpr(0, "a")
PUSH = Push(KEY, Put(b"x" * 20))
OTHERS: dict[str, NetworkMessage] = {
    "interest": Interest(InterestMode.FINAL, 1),
    "response_final": ResponseFinal(1),
    "response": Response(1, KEY, Reply(Put(b"y"))),
    "request": Request(1, KEY, Query()),
    "declare": Declare(DeclareFinal()),
    "oam": Oam(1, body=b""),
}


def test_every_kind_of_message_is_counted_under_its_name_both_ways() -> None:
    messages = {**OTHERS, "push": PUSH}
    assert messages.keys() == set(KIND_NAMES) - {""}
    for name, message in messages.items():
        data = encode(message)
        sent, read = Traffic(), Traffic()
        sent.count(data)
        read.count_read([message], len(data))
        figures = {name: {"messages": 1, "bytes": len(data)}}
        assert sent.by_kind() == read.by_kind() == figures


def test_messages_of_a_mixed_frame_share_its_bytes() -> None:
    traffic = Traffic()
    traffic.count_read([PUSH, OTHERS["request"], PUSH, OTHERS["declare"]], 100)
    assert traffic.by_kind() == {
        "request": {"messages": 1, "bytes": 25},
        "push": {"messages": 2, "bytes": 50},
        "declare": {"messages": 1, "bytes": 25},
    }


def test_frame_of_publications_is_counted_completely() -> None:
    traffic = Traffic()
    traffic.count_read([PUSH] * 3, 100)
    assert traffic.by_kind() == {"push": {"messages": 3, "bytes": 100}}
