"""One line per message: the fields of each kind, and characters that are never printed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cli.test_output import HOSTILE
from tests.trace.events_by_hand import FIRST_NS, SESSION, make_session, put, query, seen
from zenlake.cli.decode.json_lines import json_line
from zenlake.cli.decode.line import LineFormat
from zenlake.cli.decode.text import preview
from zenlake.cli.decode.verbose import field_lines, hex_lines
from zenlake.trace.events import MessageSeen, Missing, SessionChanged, Undecoded
from zenlake.trace.link import Link
from zenlake.wire import (
    Close,
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    Del,
    Err,
    Fragment,
    Frame,
    Hello,
    Init,
    Interest,
    Join,
    KeepAlive,
    LinkState,
    LinkStateList,
    Oam,
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
    Scout,
    SourceInfo,
)
from zenlake.wire.message import Extension, Message, NetworkMessage
from zenlake.wire.values.choices import ConsolidationMode, InterestMode, QueryTarget
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import Priority, QoS
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.timestamp import Timestamp
from zenlake.wire.values.whatami import WhatAmI, WhatAmIMatcher
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

ZID = ZenohId.parse("abcdef")
A = WireExpr(0, "a")
STATES = LinkStateList((LinkState(0, 1, (1, 2), zid=ZID, whatami=WhatAmI.ROUTER),))
FULL_PUT = Put(
    b"1",
    timestamp=Timestamp(18 << 32 | 3 << 30, ZID),
    encoding=Encoding(4),
    source_info=SourceInfo(ZID, 3, 9),
    attachment=b"\0",
)
FULL_QUERY = Query(
    consolidation=ConsolidationMode.NONE,
    parameters="x=1",
    body=QueryBody(Encoding(4), b"ask"),
    attachment=b"n",
)


def line(event: MessageSeen, time: str = "relative") -> str:
    return LineFormat(FIRST_NS, time).line(event)


def test_line_has_aligned_columns() -> None:
    assert line(put(packet=44, ms=1.25)) == (
        "   0.001250     44  client 3b76 > router ff6b      PUSH/PUT             "
        'robot/7/pose  5 B "hello"'
    )


@pytest.mark.parametrize(
    ("message", "key", "detail"),
    [
        (Push(A, Put(b"")), "a", "a  0 B"),
        (Push(A, Put(b"x", shm=True)), "a", "a  in shared memory"),
        (
            Push(A, FULL_PUT, qos=QoS(0x19), node_id=4),
            "a",
            'a  1 B "1" text/plain  priority 1 block express  attachment 1 B 00'
            "  at 1970-01-01T00:00:18.750000Z/abcd  from abcd/3 no. 9  node 4",
        ),
        (Push(A, Del(), qos=QoS(0x25)), "a", "a  block_first"),
        (Push(WireExpr(12, "/x"), Put(b"")), None, "[sender 12]/x ?  0 B"),
        (Push(WireExpr(12, "", False), Del()), None, "[receiver 12] ?"),
        (Request(7, A, Query()), "a", "#7 a"),
        (
            Request(7, A, FULL_QUERY, target=QueryTarget.ALL, timeout_ms=1500, budget=3),
            "a",
            "#7 a?x=1  target all  consolidation none  timeout 1500 ms  budget 3"
            '  body 3 B "ask" text/plain  attachment 1 B "n"',
        ),
        (
            Response(7, A, Reply(Put(b"v")), responder=ResponderId(ZID, 6)),
            "a",
            '#7 a  1 B "v"  by abcd/6',
        ),
        (Response(7, A, Reply(Del())), "a", "#7 a"),
        (Response(7, A, Err(b"bad")), "a", '#7 a  error 3 B "bad"'),
        (ResponseFinal(7), None, "#7"),
        (
            Interest(InterestMode.CURRENT_FUTURE, 3, keyexprs=True, subscribers=True, key=A),
            "a",
            "#3 current_future KSR a",
        ),
        (Interest(InterestMode.FINAL, 3), None, "#3 final"),
        (Declare(DeclareKeyExpr(12, A)), "a", "12 = a"),
        (
            Declare(DeclareQueryable(4, A, QueryableInfo(True, 1)), interest_id=3),
            "a",
            "4 a  complete, distance 1  for interest #3",
        ),
        (Declare(DeclareFinal(), interest_id=3), None, "for interest #3"),
        (Oam(1, body=bytes(STATES)), None, "1 node: abcd router 2 links"),
        (Oam(1, body=b"\xff"), None, "unreadable: "),
        (Oam(9, body=5), None, "id 9 5"),
        (Frame(5, [ResponseFinal(7), ResponseFinal(8)]), None, "sn 5 reliable  2 messages"),
        (
            Fragment(5, b"abc", reliable=False, more=True, first=True, qos=Priority.DATA_LOW),
            None,
            "sn 5 best effort priority 6  3 B  first, more follow",
        ),
        (
            Init(WhatAmI.PEER, ZID, resolution=Resolution.of(8), batch_size=900, qos=True, patch=1),
            None,
            "peer abcdef  version 9  sn 8 bits  batch 900  qos, patch 1",
        ),
        (Open(10, 77, seconds=True), None, "lease 10 s  initial sn 77"),
        (Close(5, session=True), None, "expired, the session"),
        (Close(0), None, "generic, this link"),
        (KeepAlive(), None, ""),
        (
            Join(WhatAmI.PEER, ZID, 2500, 1, 2),
            None,
            "peer abcdef  lease 2500 ms  next sn 1 reliable, 2 best effort",
        ),
        (Scout(WhatAmIMatcher(3)), None, "looks for router|peer"),
        (Hello(WhatAmI.ROUTER, ZID, locators=("tcp/h:1",)), None, "router abcdef  tcp/h:1"),
        (ResponseFinal(7, extensions=(Extension(0x0B),)), None, "#7  unknown extensions 0xb"),
    ],
)
def test_line_has_the_important_fields(message: Message, key: str | None, detail: str) -> None:
    event = seen(message, key=key)
    shown = line(event)
    head = f"   0.000000      1  client 3b76 > router ff6b    {event.kind}"
    inside = head.replace(event.kind, f"  {event.kind}")
    start = inside if isinstance(message, NetworkMessage) else head
    assert shown.startswith(start)
    rest = shown[len(start) :].strip()
    assert rest.startswith(detail) if detail.endswith(": ") else rest == detail


def test_fragments_and_ignored_messages_are_marked() -> None:
    event = put()
    event.fragments, event.ignored = 3, "an old sequence number"
    assert line(event).endswith("  in 3 fragments  ignored: an old sequence number")


def test_unknown_nodes_are_shown_by_address() -> None:
    session = make_session()
    session.nodes[1].zid = None
    assert "client 3b76 > 127.0.0.1:7447  " in line(put(session=session))
    event = put()
    event.session = event.sender_node = event.receiver_node = None
    assert "127.0.0.1:50372 > 127.0.0.1:7447  " in line(event)


def test_two_nodes_never_have_the_same_name() -> None:
    form = LineFormat(FIRST_NS)
    assert "client 3b76 >" in form.line(put())
    assert "client 3b76ff >" in form.line(put(session=make_session("3b76ffff", 50373)))
    assert "client 3b76 >" in form.line(put())


def test_a_node_gets_its_name_as_soon_as_it_is_known() -> None:
    session = make_session()
    session.nodes[1].zid = None
    form = LineFormat(FIRST_NS)
    assert "> 127.0.0.1:7447" in form.line(put(session=session))
    session.nodes[1].zid = "ff6b5eed"
    assert "> router ff6b" in form.line(put(session=session))


def test_times_are_absolute_or_differences() -> None:
    assert line(put(ms=1.5), "absolute").startswith("2026-11-15 01:21:42.001500 ")
    form = LineFormat(FIRST_NS, "delta")
    times = [form.line(put(ms=ms)).split()[0] for ms in (1, 3, 3.5)]
    assert times == ["0.001000", "0.002000", "0.000500"]


def test_events_that_are_no_messages() -> None:
    form = LineFormat(FIRST_NS)
    link: Link = SESSION.links[0]
    opened = form.line(SessionChanged(9, FIRST_NS, link, SESSION, "opened"))
    assert "-- session opened: client 3b76 to router ff6b" in opened
    missing = form.line(Missing(9, FIRST_NS, link, 0, "sn_gap", "skipped", count=3))
    assert "-- missing: sn_gap 3, skipped  127.0.0.1:50372 > 127.0.0.1:7447" in missing
    undecoded = form.line(Undecoded(9, FIRST_NS, link, 1, "encrypted", 300, "TLS\x1b"))
    assert r"-- undecoded: encrypted 300 B, TLS\x1b  127.0.0.1:7447 > 127.0.0.1:50372" in undecoded


def test_colour_goes_around_the_same_text() -> None:
    coloured = LineFormat(FIRST_NS, colour=True).line(put())
    assert "\x1b[36m  PUSH/PUT" in coloured
    frame = LineFormat(FIRST_NS, colour=True).line(seen(Frame(1, [])))
    assert frame.count("\x1b[2m") == 3


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "0 B"),
        (b"hello", '5 B "hello"'),
        (b"a\nb", '3 B "a\\nb"'),
        (b"\x1b[2J", "4 B 1b 5b 32 4a"),
        (b"x" * 50, f'50 B "{"x" * 40}"...'),
        ("ü".encode() * 40, f'80 B "{"ü" * 20}"...'),
        (("x" + "ü" * 40).encode(), f'81 B "x{"ü" * 19}"...'),
        ("a\u202eb".encode(), r'5 B "a\u202eb"'),
        (b"\xff" * 20, f"20 B {' '.join(['ff'] * 16)}..."),
    ],
)
def test_preview_shows_text_or_hexadecimal(data: bytes, text: str) -> None:
    assert preview(data) == text


def hostile_events(text: str) -> Iterator[MessageSeen]:
    """Events with this text in every field that a peer can choose."""
    key = WireExpr(0, text)
    raw = text.encode("utf-8", "surrogatepass")
    encoding = Encoding(0xFFFF, raw[:255])
    yield seen(Push(key, Put(raw, encoding=encoding, attachment=raw)), key=text)
    yield seen(Push(WireExpr(5, text), Del()))
    yield seen(Request(1, key, Query(parameters=text, body=QueryBody(encoding, raw))), key=text)
    yield seen(Response(1, key, Err(raw, encoding=encoding)), key=text)
    yield seen(Declare(DeclareKeyExpr(1, key)), key=text)
    yield seen(Hello(WhatAmI.ROUTER, ZID, locators=(f"tcp/{text}",)))
    yield seen(Init(WhatAmI.ROUTER, ZID, region=text, cookie=raw))
    yield seen(Oam(1, body=raw))
    event = query()
    event.ignored = text
    yield event


@pytest.mark.parametrize("character", HOSTILE)
def test_no_hostile_character_reaches_the_terminal(character: str) -> None:
    form = LineFormat(FIRST_NS)
    for event in hostile_events(f"a{character}b"):
        shown = [form.line(event)]
        if not "\ud800" <= character <= "\udfff":  # which decoders refuse
            shown += [*field_lines(event), *hex_lines(event)]
            shown.append(json_line(event, "f", "", whole=True))
        for text in shown:
            assert character not in text
            assert text.isprintable()


def test_json_has_the_fields_and_bytes_in_hexadecimal() -> None:
    found = json.loads(json_line(put(), "f.pcap", "", whole=False))
    assert found["file"] == "f.pcap"
    assert found["event"] == "message"
    assert found["kind"] == "PUSH/PUT"
    assert found["payload"] == "68656c6c6f"
    assert found["sender_zid"] == "3b76c0ffee"
    assert "message" not in found
    whole = json.loads(json_line(put(), "f.pcap", "+1 ms", whole=True))
    assert whole["message"]["body"] == {"payload": "68656c6c6f"}
    assert whole["note"] == "+1 ms"


def test_json_of_other_events() -> None:
    link = SESSION.links[0]
    opened = SessionChanged(9, FIRST_NS, link, SESSION, "opened")
    found = json.loads(json_line(opened, "f", "", whole=True))
    assert (found["event"], found["change"]) == ("session", "opened")
    assert found["opener_role"] == "client"
    gap = json.loads(json_line(Missing(9, 1, link, 0, "sn_gap", "x", 3), "f", "", whole=True))
    assert (gap["event"], gap["kind"], gap["count"]) == ("missing", "sn_gap", 3)
    bad = json.loads(json_line(Undecoded(9, 1, link, 0, "gap", 3, "x"), "f", "", whole=True))
    assert (bad["event"], bad["state"], bad["bytes"]) == ("undecoded", "gap", 3)


def test_all_fields_by_the_names_that_filters_use() -> None:
    shown = [text.strip() for text in field_lines(put())]
    assert "key = robot/7/pose" in shown
    assert 'payload = 5 B "hello"' in shown
    assert 'message.body.payload = 5 B "hello"' in shown


def test_the_bytes_of_a_message() -> None:
    assert [text.strip() for text in hex_lines(put(key="a", payload=b"\x1bxyz"))] == [
        "0000  7d 00 01 61 01 04 1b 78 79 7a                    }..a...xyz"
    ]
