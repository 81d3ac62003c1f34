"""Fields of messages, by name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.paths import DOCS
from tests.trace.events_by_hand import CLIENT, ROUTER, put, query, seen
from zenlake.errors import LocalError
from zenlake.trace.events import MessageSeen
from zenlake.trace.fields import FIELDS, field_named
from zenlake.wire import (
    Close,
    Declare,
    DeclareQueryable,
    Del,
    Err,
    Fragment,
    Frame,
    Interest,
    KeepAlive,
    Open,
    Push,
    Put,
    Query,
    QueryBody,
    Reply,
    Request,
    ResponderId,
    Response,
    ResponseFinal,
    SourceInfo,
    UndeclaredKey,
    UndeclareToken,
)
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import Priority, QoS
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.timestamp import Timestamp
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

ZID = ZenohId.parse("abcd")


def ask(event: MessageSeen, names: str) -> list[Any]:
    return [field_named(name).value_of(event) for name in names.split()]


def test_plain_put_has_the_defaults_of_the_protocol() -> None:
    names = "priority congestion express encoding payload payload_size"
    assert ask(put(), names) == [5, "drop", False, "zenoh/bytes", b"hello", 5]
    names = "attachment timestamp source_zid target consolidation parameters"
    assert ask(put(), names) == [None] * 6


def test_put_has_the_fields_of_its_nodes_and_link() -> None:
    names = "sender_zid receiver_zid sender_role receiver_role zid port"
    assert ask(put(), names) == [
        CLIENT,
        ROUTER,
        "client",
        "router",
        (CLIENT, ROUTER),
        (50372, 7447),
    ]
    names = "sender receiver link protocol reliability sn packet kind"
    assert ask(put(direction=1), names)[:2] == ["127.0.0.1:7447", "127.0.0.1:50372"]
    assert ask(put(), names)[2:] == [
        *("127.0.0.1:50372-127.0.0.1:7447#1", "tcp", "reliable", 7, 1, "PUSH/PUT")
    ]
    assert ask(put(ms=309.176), "time") == ["2026-11-15T01:21:42.309176000Z"]


def test_put_has_all_fields_of_its_extensions() -> None:
    body = Put(
        b"1",
        timestamp=Timestamp(77, ZID),
        encoding=Encoding.parse("text/plain;utf-8"),
        source_info=SourceInfo(ZID, 3, 9),
        attachment=b"att",
    )
    event = seen(Push(WireExpr(0, "a"), body, qos=QoS(0x19), node_id=4), key="a")
    names = "priority congestion express encoding timestamp attachment"
    assert ask(event, names) == [1, "block", True, "text/plain;utf-8", "77/abcd", b"att"]
    names = "source_zid source_eid source_sn node_id"
    assert ask(event, names) == ["abcd", 3, 9, 4]


def test_a_payload_in_shared_memory_is_not_known() -> None:
    event = seen(Push(WireExpr(0, "a"), Put(b"\0", shm=True)), key="a")
    assert ask(event, "payload payload_size") == [None, None]
    assert ask(put(payload=b""), "payload payload_size") == [b"", 0]
    assert ask(seen(Push(WireExpr(0, "a"), Del())), "payload encoding") == [None, None]


def test_queries_and_answers_have_their_fields() -> None:
    names = "request_id target consolidation parameters timeout_ms encoding"
    assert ask(query(), names) == [12, "best_matching", "auto", None, None, None]
    body = Query(parameters="x=1", body=QueryBody(Encoding(4), b"ask"))
    request = seen(Request(3, WireExpr(0, "a"), body, timeout_ms=1500, budget=2))
    names = "parameters timeout_ms budget payload encoding"
    assert ask(request, names) == ["x=1", 1500, 2, b"ask", "text/plain"]
    reply = Response(3, WireExpr(0, "a"), Reply(Put(b"v")), responder=ResponderId(ZID, 6))
    names = "request_id replier_zid replier_eid payload consolidation"
    assert ask(seen(reply), names) == [3, "abcd", 6, b"v", "auto"]
    error = Response(3, WireExpr(0, "a"), Err(b"bad"))
    assert ask(seen(error), "payload replier_zid consolidation") == [b"bad", None, None]
    assert ask(seen(ResponseFinal(3)), "request_id payload") == [3, None]


def test_declarations_and_interests_have_their_fields() -> None:
    queryable = DeclareQueryable(4, WireExpr(1, "/x"), info=QueryableInfo(True, 2))
    event = seen(Declare(queryable, interest_id=8), key="a/x")
    names = "entity_id interest_id complete distance key wire_key"
    assert ask(event, names) == [4, 8, True, 2, "a/x", "[sender 1]/x"]
    gone = seen(Declare(UndeclareToken(4, UndeclaredKey(WireExpr(1, "/x")))))
    assert ask(gone, "wire_key unknown_alias") == ["[sender 1]/x", True]
    interest = Interest(InterestMode.CURRENT, 5, subscribers=True, key=WireExpr(0, "a"))
    names = "interest_id mode options unknown_alias"
    assert ask(seen(interest, key="a"), names) == [5, "current", "SR", False]


def test_transport_messages_have_their_fields() -> None:
    frame = seen(Frame(9, [], reliable=False, qos=Priority.DATA_LOW))
    names = "sn priority reliability messages congestion size"
    assert ask(frame, names) == [9, 6, "best_effort", 0, None, 4]
    fragment = seen(Fragment(9, b"abc", more=True))
    assert ask(fragment, "more sn payload") == [True, 9, None]
    assert ask(seen(Close(3)), "reason") == ["max_sessions"]
    assert ask(seen(Close(99)), "reason") == ["unknown(99)"]
    assert ask(seen(Open(10, 77, seconds=True)), "lease_ms initial_sn") == [10_000, 77]


@pytest.mark.parametrize("message", [KeepAlive(), Close(0), Frame(1, []), ResponseFinal(1)])
def test_every_field_of_every_message_can_be_read(message: Any) -> None:
    for field in FIELDS.values():
        field.value_of(seen(message))


def test_paths_select_attributes_of_the_message() -> None:
    assert ask(put(), "message.body.payload message.qos message.qos.priority") == [
        *(b"hello", None, None)
    ]
    assert ask(put(), "message.nothing.at.all message.encode") == [None, None]
    for path in ("message.", "message.a..b", "message._x", "message.__class__", "message.a b"):
        with pytest.raises(LocalError, match="not a path of attributes"):
            field_named(path)


def test_names_of_dissectors_are_accepted() -> None:
    assert ask(put(), "zenoh.push.keyexpr zenoh.srczid zenoh.request.keyexpr") == [
        *("robot/7/pose", CLIENT, None)
    ]
    with pytest.raises(LocalError, match=r"did you mean zenoh\.keyexpr"):
        field_named("zenoh.keyexp")
    with pytest.raises(LocalError, match="no field"):
        field_named("zenoh.nothing.keyexpr")


def test_error_for_an_unknown_field_has_a_hint() -> None:
    with pytest.raises(LocalError, match="no field 'prority': did you mean priority"):
        field_named("prority")


def test_documentation_has_the_reference_table() -> None:
    text = (DOCS / "decode.md").read_text()
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for field in FIELDS.values():
        words = f": `{'`, `'.join(field.choices)}`" if field.choices else ""
        lines.append(f"| `{field.name}` | {field.type} | {field.meaning}{words} |")
    assert "\n".join(lines) in text
