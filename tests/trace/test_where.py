"""The filter language: selected messages, and the messages for mistakes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trace.events_by_hand import put, query, seen
from zenlake.errors import LocalError
from zenlake.limits import EXPRESSION_CHARACTERS_MAX, EXPRESSION_DEPTH_MAX
from zenlake.trace.comparison import OPERATORS
from zenlake.trace.fields import FIELDS
from zenlake.trace.times import CaptureStart
from zenlake.trace.where import all_of, compares_patterns, parse
from zenlake.wire import KeepAlive, Push, Put, Query, Request
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import QoS
from zenlake.wire.values.wire_expr import WireExpr

EVENT = seen(
    Push(WireExpr(0, "robot/7/pose"), Put(b"hello", encoding=Encoding(4)), qos=QoS(0x19)),
    key="robot/7/pose",
    packet=40,
    ms=12.5,
)


@pytest.mark.parametrize(
    "expression",
    [
        *("kind == PUSH/PUT", "kind == PUSH", "kind == push", "kind != REQUEST"),
        *("kind in (REQUEST, PUSH)", "kind matches ^PUSH", "kind startswith PU"),
        *("key ~ robot/**", "key~robot/*/pose", "key ~ 'robot/**/**'", 'key == "robot/7/pose"'),
        *("key contains 7", "key startswith robot", "key endswith pose", "key matches 'r.*e$'"),
        *("packet == 40", "packet >= 0x28", "packet < 40.5", "packet != 41", "packet in (1,40)"),
        *("port == 7447", "port > 50000", "port != 1", "not port == 1"),
        *(
            "payload == hello",
            "payload == 0x68656c6c6f",
            "payload contains ell",
            "payload_size == 5",
        ),
        *("payload matches '^h'", "payload startswith 0x6865", "payload < i"),
        *(
            "express",
            "express == true",
            "express != false",
            "not express == false",
            "key",
            "!ignored",
        ),
        *("priority == 1 and congestion == block", "priority < 2 && reliability == reliable"),
        *("priority == 9 or priority == 1", "priority == 9 || not priority == 9"),
        *("(priority == 9 or key) and not (express and size > 1000)", "((((key))))"),
        *("sender_zid == 3b76", "zid == ff6b", "zid == 3B76C0FFEE", "sender_zid startswith 3b"),
        *("sender_role == client", "sender == 127.0.0.1:50372", "encoding == text/plain"),
        *("time > 2026-11-15", "time_ns > 1s"),
        *("message.body.payload == hello", "message.qos.priority == 1", "message.key ~ robot/*/*"),
        *("message.qos.priority == real_time", "message.qos.express == true", "message.body"),
        *("zenoh.push.keyexpr ~ robot/**", "zenoh.srczid == 3b76"),
    ],
)
def test_filter_selects_the_message(expression: str) -> None:
    assert parse(expression)(EVENT)


@pytest.mark.parametrize(
    "expression",
    [
        *("kind == DECLARE", "kind == RESPONSE_FINAL", "key ~ robot/*", "key ~ @robot/**"),
        *("packet == 1", "priority > 1", "not express", "ignored", "fragments", "unknown_alias"),
        *("zid == ff6", "zid == a", "port == 1", "zid != ff6b", "payload == 'hell'"),
        # Absent: every comparison is false, also !=.
        *("request_id == 1", "request_id != 1", "request_id < 1", "request_id >= 1"),
        *("request_id in (1)", "parameters matches .", "attachment contains a", "target != all"),
        *("message.nothing == 1", "message.body.nothing", "message.qos.priority == 2"),
        *("message.qos.express == 1", "message.qos.byte == real_time", "zenoh.request.key"),
    ],
)
def test_filter_rejects_the_message(expression: str) -> None:
    assert not parse(expression)(EVENT)


def test_quoted_texts_may_contain_any_character() -> None:
    event = put(key="a b/'c'/\"d\"")
    assert parse(r"""key == "a b/'c'/\"d\"" """)(event)
    assert parse("payload == 'a\\n\\x01\\\\'")(put(payload=b"a\n\x01\\"))
    assert parse("parameters == 'and'")(seen(Request(1, WireExpr(0, "a"), Query(parameters="and"))))


def test_one_of_several_values_is_enough() -> None:
    assert parse("port in (1, 7447)")(EVENT)
    assert parse("port > 8000 and port < 8000")(EVENT)  # one of two is enough for each


def test_times_have_units() -> None:
    request = seen(Request(1, WireExpr(0, "a"), Query(), timeout_ms=1500))
    for text in ("1500", "1.5s", "1500ms", "1500000us"):
        assert parse(f"timeout_ms == {text}")(request)
    assert parse("timeout_ms < 2s and timeout_ms > 1.4s")(request)


BEGAN_NS = EVENT.time_ns - 12_500_000
BEGAN = datetime.fromtimestamp(BEGAN_NS // 10**9, UTC)


@pytest.mark.parametrize(
    ("expression", "is_chosen"),
    [
        *(("time > 0.01", True), ("time > 1.5", False), ("time < 1.5", True)),
        *(("time >= 12.5ms", True), ("time > 12500us", False), ("time <= 0.0125", True)),
        # A written time includes all times that begin with its digits.
        *(("time == 0.012", True), ("time == 0.01", True), ("time == 0.013", False)),
        *(("time != 0.012", False), ("time in (0.1, 0.0125)", True)),
        (f"time == {BEGAN:%H:%M}", True),
        (f"time > {BEGAN + timedelta(minutes=1):%H:%M:%S}", False),
        (f"time < {BEGAN + timedelta(minutes=1):%H:%M:%S.%f}", True),
        (f"time == {BEGAN:%Y-%m-%d}", True),
        (f"time < {BEGAN:%Y-%m-%d}", False),
        (f"time >= '{BEGAN:%Y-%m-%d %H:%M:%S}'", True),
        (f"time > {BEGAN + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}+01:00", True),
        (f"time > {BEGAN + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}", False),
    ],
)
def test_times_select_the_expected_messages(expression: str, is_chosen: bool) -> None:
    start = CaptureStart()
    start.first_ns = lambda: BEGAN_NS
    assert parse(expression, start)(EVENT) is is_chosen


def test_a_time_may_be_copied_from_any_output() -> None:
    shown = FIELDS["time"].value_of(EVENT)
    assert parse(f"time == {shown}")(EVENT)
    assert not parse(f"time == {shown}")(seen(KeepAlive(), ms=12.6))


def test_patterns_compared_as_text_are_found() -> None:
    assert compares_patterns("key == robot/** and size > 1") == ["robot/**"]
    assert compares_patterns("key == robot/7 or key ~ robot/** or encoding == a*") == []


def test_invalid_key_intersects_nothing() -> None:
    assert not parse("key ~ **")(put(key="a//b"))
    assert not parse("key ~ **")(seen(KeepAlive()))


def test_all_of_requires_every_filter() -> None:
    chosen = all_of([parse("kind == REQUEST"), parse("request_id > 3")])
    assert [chosen(event) for event in (query(12), query(2), put())] == [True, False, False]


@pytest.mark.parametrize(
    ("expression", "position", "cause"),
    [
        ("", 0, "it ends, expected the name of a field"),
        ("key ==", 6, "it ends, expected a value for key"),
        ("key == and", 7, "there is 'and', expected a value for key"),
        ("key == == a", 7, "there is '==', expected a value for key"),
        ("key == a b", 9, "there is 'b', expected and, or, or the end"),
        ("(key", 4, "it ends, expected )"),
        ("key)", 3, "there is ')', expected and, or, or the end"),
        ("key and", 7, "expected the name of a field"),
        ("'key' == a", 0, "there is 'key', expected the name of a field"),
        ("key == 'a", 7, "a quote that does not end"),
        ("key & a", 4, "a stray '&'"),
        ("size > 1 and sise > 2", 13, "there is no field 'sise': did you mean size?"),
        ("size > big", 7, "size is a number, not 'big'"),
        ("size > 1k", 7, "size is a number, not '1k': write 1000 or 1024"),
        ("ip.src == 10.0.0.1", 0, "use `sender startswith 10.0.0.1`"),
        ("frame.number == 7", 0, "use `packet`"),
        ("tcp.port == 7447", 0, "use `port`"),
        ("time > soon", 7, "'soon' is not a time: expected 1.5 (seconds since the first packet)"),
        ("time > 25:00", 7, "is not a time"),
        ("time > 2026-02-30", 7, "is not a time: day is out of range"),
        ("time startswith 2026", 16, "time is compared with == != < <= > >="),
        ("size > 5ms", 7, "size has no unit of time"),
        ("kind == PUHS", 8, "there is no kind 'PUHS': did you mean PUSH?"),
        ("kind == put", 8, "did you mean PUSH/PUT or RESPONSE/REPLY/PUT?"),
        ("kind == reply", 8, "did you mean RESPONSE/REPLY"),
        ("kind == query", 8, "did you mean REQUEST?"),
        ("kind == d_token", 8, "did you mean DECLARE/D_TOKEN?"),
        ("kind < PUSH", 7, "kind is a kind: compare it with == or !="),
        ("express == yes", 11, "express is true or false, not 'yes'"),
        ("target == everyone", 10, "target is one of best_matching, all, all_complete"),
        ("key ~ a//b", 6, "a chunk is empty"),
        ("size ~ a", 7, "~ compares key expressions, size is a number"),
        ("key matches '('", 12, "'(' is not a regular expression"),
        ("kind in PUSH", 8, "expected ( and values"),
        ("kind in (PUSH", 13, "expected , or )"),
        ("message._x == 1", 0, "not a path of attributes"),
    ],
)
def test_mistakes_have_a_position(expression: str, position: int, cause: str) -> None:
    with pytest.raises(LocalError) as error:
        parse(expression)
    assert str(error.value).startswith(f"filter, at character {position}: ")
    assert cause in str(error.value)


def test_length_and_depth_are_bounded() -> None:
    with pytest.raises(LocalError, match="characters, at most"):
        parse("x" * (EXPRESSION_CHARACTERS_MAX + 1))
    deep = EXPRESSION_DEPTH_MAX
    assert parse("(" * deep + "key" + ")" * deep)(EVENT)
    for text in ("(" * 2000 + "key", "not " * 1000 + "key", "!" * 4000 + "key"):
        with pytest.raises(LocalError, match="levels"):
            parse(text)
    assert parse(" and ".join(["key"] * 500))(EVENT)


WORDS = [
    *(*FIELDS, *OPERATORS, "and", "or", "not", "(", ")", ",", "&&", "||", "!", "'", '"', "\\"),
    *(
        "message.body.payload",
        "zenoh.push.key",
        "PUSH",
        "a/**",
        "1.5s",
        "0x",
        "true",
        "[",
        "*",
        "é",
    ),
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)))
def test_any_text_is_a_filter_or_a_local_error(text: str) -> None:
    try:
        chosen = parse(text)
    except LocalError:
        return
    for event in (EVENT, query(), seen(KeepAlive())):
        assert chosen(event) in (True, False)


def test_escaped_bytes_are_bytes_in_fields_of_bytes() -> None:
    event = put(payload=b"a\xffb")
    assert parse(r'payload contains "\xff"')(event)
    assert not parse(r'payload contains "\xc3"')(event)
    assert parse(r'key == "\xe9"')(put(key="\xe9"))
