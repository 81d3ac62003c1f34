"""Followers of one request, one node, one key."""

from __future__ import annotations

import pytest

from tests.trace.events_by_hand import CLIENT, ROUTER, make_session, put, query, seen
from zenlake.cli.decode.follow import NodeFollower, follower
from zenlake.cli.decode.follow_key import KeyFollower
from zenlake.cli.decode.follow_request import RequestFollower
from zenlake.cli.decode.follower import Follower, FollowerLine
from zenlake.errors import LocalError
from zenlake.limits import REMEMBERED_MAX
from zenlake.trace.events import MessageSeen, Missing, SessionChanged, TraceEvent
from zenlake.trace.session import Session
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareSubscriber,
    Err,
    Init,
    Interest,
    Push,
    Put,
    Reply,
    Response,
    ResponseFinal,
    UndeclareSubscriber,
)
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

A = WireExpr(0, "a")


def reply(id: int = 12, ms: float = 1.0, key: str = "a", error: bool = False) -> MessageSeen:
    body = Err(b"bad") if error else Reply(Put(b"v"))
    return seen(Response(id, A, body), key=key, ms=ms, direction=1)


def final(id: int = 12, ms: float = 2.0) -> MessageSeen:
    return seen(ResponseFinal(id), ms=ms, direction=1)


def fed(story: Follower, *events: TraceEvent) -> list[FollowerLine]:
    return [line for event in events for line in story.feed(event)]


def short(lines: list[FollowerLine]) -> list[str]:
    """Kinds with their notes, and summaries."""
    return [
        f"{one.event.kind} {one.note}".strip() if isinstance(one.event, MessageSeen) else one.note
        for one in lines
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12", RequestFollower),
        ("request:12", RequestFollower),
        ("127.0.0.1:1-127.0.0.1:2#1@12", RequestFollower),
        ("3b76", NodeFollower),
        ("3B76C0", NodeFollower),
        ("zid:1234", NodeFollower),
        ("a/b", KeyFollower),
        ("robot@12", KeyFollower),
        ("key:1234", KeyFollower),
        ("**", KeyFollower),
        ("abc", KeyFollower),
    ],
)
def test_argument_selects_the_kind_of_follower(text: str, kind: type) -> None:
    assert type(follower(text)) is kind


@pytest.mark.parametrize("text", ["request:x", "zid:xyz", "zid:abc", "a//b", "", "key:"])
def test_invalid_arguments_are_refused(text: str) -> None:
    with pytest.raises(LocalError):
        follower(text)


def test_a_request_and_its_responses_are_selected() -> None:
    story = RequestFollower(12)
    assert fed(story, put(), query(11), query(12), reply(11), reply(12, ms=1.5)) == []
    lines = fed(story, reply(12, ms=2, error=True), final(11), final(12, ms=3))
    assert short(lines) == [
        "REQUEST",
        "RESPONSE/REPLY/PUT +1.500 ms",
        "RESPONSE/ERR +2.000 ms",
        "RESPONSE_FINAL +3.000 ms",
        "   = 1 reply, 1 error, final after 3.000 ms",
        "",
    ]
    assert story.finish() == []


def test_reply_after_the_final_is_marked() -> None:
    story = RequestFollower(12)
    fed(story, query(), final(ms=2))
    assert short(fed(story, reply(ms=3))) == ["RESPONSE/REPLY/PUT 1.000 ms after the final"]


def test_a_request_without_its_final_is_reported() -> None:
    story = RequestFollower(12)
    fed(story, query())
    assert short(story.finish())[1] == "   = 0 replies, no final before the end of the capture"
    session = make_session()
    session.outcome = "lost"
    ended = SessionChanged(9, 0, session.links[0], session, "lost")
    story = RequestFollower(12)
    answer = seen(Response(12, A, Reply(Put(b"v"))), session=session, direction=1)
    fed(story, query(session=session), answer)
    assert short(fed(story, ended))[-2] == "   = 1 reply, no final before the session was lost"


def test_a_reused_request_id_begins_another_exchange() -> None:
    story = RequestFollower(12)
    lines = fed(story, query(), query(ms=5), final(ms=6))
    assert "no final before the number was used again" in short(lines)[1]
    assert short(lines)[-2] == "   = 0 replies, final after 1.000 ms"


def test_responses_to_a_request_before_the_capture() -> None:
    lines = short(fed(RequestFollower(12), reply(), final()))
    assert lines[-2] == "   = 1 reply, final; the request was sent before the capture"


def test_the_same_number_in_two_sessions_and_of_both_sides() -> None:
    other = make_session("aaaa", 50999)
    story = RequestFollower(12)
    lines = fed(story, query(), query(session=other), query(direction=1), final())
    assert len(lines) == 4
    assert len([one for one in story.finish() if one.event is not None]) == 2
    one_link = follower(f"{other.links[0].name}@12")
    lines = [*fed(one_link, query(), query(session=other)), *one_link.finish()]
    assert [one.event.link for one in lines if isinstance(one.event, MessageSeen)] == other.links


def test_all_messages_of_a_node_are_selected() -> None:
    other = make_session("aaaa", 50999)
    story = NodeFollower("3b76")
    events = [put(), put(direction=1), put(session=other)]
    assert [line.event for line in fed(story, *events)] == events[:2]
    link = other.links[0]
    missing = Missing(1, 0, link, 0, "tcp_gap", "lost")
    assert fed(NodeFollower("aaaa"), missing)[0].event is missing
    assert fed(story, missing) == []


def test_a_node_that_answers_is_followed_from_the_first_message() -> None:
    session: Session = make_session()
    session.nodes[1].zid = None
    syn = seen(Init(WhatAmI.CLIENT, ZenohId.parse(CLIENT)), session=session)
    story = NodeFollower("ff6b")
    assert fed(story, syn) == []
    session.nodes[1].zid = ROUTER
    ack = seen(Init(WhatAmI.ROUTER, ZenohId.parse(ROUTER), cookie=b"c"), session=session)
    assert [line.event for line in fed(story, ack)] == [syn, ack]


def test_a_key_is_selected_with_the_declarations_of_its_aliases() -> None:
    alias = seen(Declare(DeclareKeyExpr(1, WireExpr(0, "robot"))), key="robot")
    unused = seen(Declare(DeclareKeyExpr(2, WireExpr(0, "arm"))), key="arm")
    used = seen(Push(WireExpr(1, "/7/pose"), Put(b"")), key="robot/7/pose")
    again = seen(Push(WireExpr(1, "/8/pose"), Put(b"")), key="robot/8/pose")
    other = seen(Push(WireExpr(1, "/7"), Put(b"")), key="robot/7")
    lines = fed(KeyFollower("robot/*/pose"), alias, unused, other, used, again)
    assert [one.event for one in lines] == [alias, used, again]


def test_a_key_is_selected_with_finals_and_undeclarations() -> None:
    key = WireExpr(0, "robot/7")
    events = [
        seen(Declare(DeclareSubscriber(3, key)), key="robot/7"),
        seen(Declare(UndeclareSubscriber(3))),
        seen(Interest(InterestMode.CURRENT, 5, subscribers=True, key=key), key="robot/7"),
        seen(Declare(DeclareFinal(), interest_id=5), direction=1),
        query(12, "robot/7"),
        reply(12, key="elsewhere"),
        final(12),
    ]
    others = [
        seen(Declare(UndeclareSubscriber(4))),
        seen(Declare(UndeclareSubscriber(3)), direction=1),
        seen(Declare(DeclareFinal(), interest_id=6), direction=1),
        seen(Declare(DeclareFinal())),
        final(13),
        put("arm"),
        put("robot//7"),
    ]
    assert [one.event for one in fed(KeyFollower("robot/**"), *events, *others)] == events


def test_an_id_reused_for_another_key_is_not_selected() -> None:
    story = KeyFollower("a")
    session = make_session()
    assert fed(story, query(key="a", session=session))
    other = seen(query().message, key="b", session=session)
    answer = seen(ResponseFinal(12), session=session, direction=1)
    assert fed(story, other, answer) == []


def test_remembered_references_are_limited() -> None:
    assert KeyFollower("a")._remembered_max == REMEMBERED_MAX
    story = KeyFollower("a", remembered_max=2)
    session = make_session()
    fed(story, *(query(id, "a", session=session) for id in (1, 2, 3)))
    ends = [seen(ResponseFinal(id), session=session, direction=1) for id in (1, 2, 3)]
    assert [bool(story.feed(end)) for end in ends] == [False, True, True]
