"""Redaction: what rules remove does not reach the disk, and the rest is recorded unchanged."""

from __future__ import annotations

import pytest

from tests.recording.redacted_link import PUBLIC, SECRET, ZID, Link, key, prefix
from zenlake.capture.segment_format import PLAIN
from zenlake.protocol.user_password import challenge, response
from zenlake.recording.redaction import Redactor
from zenlake.recording.redaction_rules import RedactionRules
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Encoding,
    Err,
    Extension,
    Frame,
    Init,
    Interest,
    InterestMode,
    Oam,
    Open,
    Push,
    Put,
    Query,
    QueryBody,
    Reply,
    Request,
    Response,
    ResponseFinal,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareSubscriber,
    UndeclareToken,
    WhatAmI,
    WireExpr,
    decode_batch,
    encode_messages,
)

# --- handshake -----------------------------------------------------------------------------------


@pytest.mark.parametrize("exclude", [(), ("secret/**",)])
def test_credentials_are_not_recorded(exclude: tuple[str, ...]) -> None:
    link = Redactor(RedactionRules(exclude)).link()
    ack = Init(WhatAmI.ROUTER, ZID, cookie=b"c", auth=challenge(123456789))
    changed = link.batch(1, bytes(ack), 0)
    assert changed is not None
    [seen] = decode_batch(changed[0]).messages
    assert isinstance(seen, Init)
    assert seen.auth == (Extension(0x22, 0),)
    proof = response("hunter2", "password", 123456789)
    body = proof[0].body
    assert isinstance(body, bytes)
    opening = bytes(Open(1000, 0, cookie=b"c", auth=proof))
    for _ in "ab":  # a datagram may arrive again, after the session is open
        changed = link.batch(0, opening, 0)
        assert changed is not None
        assert SECRET not in changed[0]
        assert body[-32:] not in changed[0]
        [seen_open] = decode_batch(changed[0]).messages
        assert isinstance(seen_open, Open)
        assert seen_open.auth == (Extension(0x42, b""),)
        link.batch(1, bytes(Open(1000, 0)), 0)


def test_handshake_that_cannot_be_decoded_is_not_recorded() -> None:
    redactor = Redactor(RedactionRules())
    assert redactor.link().batch(0, b"\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0) is None
    assert redactor.counts.undecodable == 1


def test_without_rules_batches_are_not_decoded() -> None:
    link = Link()
    assert link.link.batch(0, b"\xff no batch", PLAIN) == (b"\xff no batch", PLAIN)


# --- publications --------------------------------------------------------------------------------


def test_batch_without_excluded_keys_stays_as_it_is() -> None:
    link = Link(("secret/**",))
    batch = encode_messages([Frame(0, [PUBLIC] * 40)])
    assert link.link.batch(0, batch, PLAIN) == (batch, PLAIN)


def test_excluded_publications_are_removed() -> None:
    link = Link(("secret/**",))
    secret = Push(key("secret/hunter2"), Put(b"hunter2"))
    assert link.send(PUBLIC, secret, PUBLIC) == [PUBLIC, PUBLIC]
    assert link.send(*[secret] * 40) == []
    assert link.send(PUBLIC) == [PUBLIC]
    assert SECRET not in link.recorded
    assert link.counts == (41, 0, 0)


def test_sequence_numbers_stay() -> None:
    link = Link(("secret/**",))
    secret = Push(key("secret/a"), Put(b"hunter2"))
    numbers = []
    for sn in range(5):
        changed = link.link.batch(0, bytes(Frame(sn, [secret])), PLAIN)
        assert changed is not None
        assert changed[1] == PLAIN
        [frame] = decode_batch(changed[0]).messages
        assert isinstance(frame, Frame)
        assert not frame.messages
        numbers.append(frame.sn)
    assert numbers == [0, 1, 2, 3, 4]


def test_publication_on_a_wild_key_that_includes_an_excluded_one_is_removed() -> None:
    assert Link(("secret/**",)).send(Push(key("**"), Put(b"x")), PUBLIC) == [PUBLIC]


def test_payload_and_attachment_are_dropped() -> None:
    link = Link((), ("camera/*",))
    put = Put(b"hunter2", attachment=b"hunter2", encoding=Encoding(4))
    put.extensions = (Extension(0x4C, b"hunter2"),)
    [seen] = link.send(Push(key("camera/7"), put))
    assert seen == Push(key("camera/7"), Put(b"", attachment=b"", encoding=Encoding(4)))
    [seen] = link.send(Push(key("camera/7"), Del(attachment=b"hunter2")))
    assert seen == Push(key("camera/7"), Del(attachment=b""))
    run = link.send(*[Push(key("camera/7"), Put(b"hunter2"))] * 40)
    assert run == [Push(key("camera/7"), Put(b""))] * 40
    assert SECRET not in link.recorded
    assert link.counts == (0, 42, 0)


def test_unknown_prefix_is_not_recorded() -> None:
    link = Link(("secret/**",))
    assert link.send(Push(WireExpr(9, "/a"), Put(b"x"))) == []
    assert link.counts == (1, 0, 0)


def test_undecodable_batch_is_not_recorded() -> None:
    link = Link(("secret/**",))
    assert link.link.batch(0, b"\x1f hunter2", 0) is None
    assert link.counts == (0, 0, 1)
    whole = encode_messages([Frame(0, [PUBLIC])]) + b"\x00hunter2 hunter2"
    changed = link.link.batch(0, whole, 0)
    assert changed is not None
    assert SECRET not in changed[0]


def test_unknown_management_message_is_removed() -> None:
    link = Link(("secret/**",))
    assert link.send(Oam(9, body=b"hunter2")) == []
    link_state = Oam(1, body=b"\x00")
    assert link.send(link_state) == [link_state]


# --- declared prefixes ---------------------------------------------------------------------------


def test_excluded_key_is_recognized_by_its_prefix() -> None:
    link = Link(("secret/**",))
    assert link.send(prefix(1, "secret"), prefix(2, "secret/hunter2")) == []
    assert link.send(Push(WireExpr(2), Put(b"hunter2")), Push(WireExpr(1, "/x"), Put(b"y"))) == []
    # The other side refers to prefixes of this one.
    assert link.send(Push(WireExpr(2, sender=False), Put(b"hunter2")), direction=1) == []
    assert link.send(Declare(UndeclareKeyExpr(2))) == []
    assert SECRET not in link.recorded


def test_prefix_is_recorded_with_the_first_message_that_needs_it() -> None:
    link = Link(("robots/*/pose",))
    assert link.send(prefix(1, "robots/hunter2")) == []
    assert link.send(Push(WireExpr(1, "/pose"), Put(b"x"))) == []
    assert SECRET not in link.recorded
    use = Push(WireExpr(1, "/name"), Put(b"x"))
    [declared, seen] = link.send(use, flags=PLAIN)
    assert declared == prefix(1, "robots/hunter2")
    assert seen == use
    assert link.send(use) == [use]
    undeclared = Declare(UndeclareKeyExpr(1))
    assert link.send(undeclared) == [undeclared]


def test_batch_with_an_added_declaration_is_not_plain() -> None:
    link = Link(("**/pose",))
    link.send(prefix(1, "robot"))
    sn = 1
    changed = link.link.batch(0, bytes(Frame(sn, [Push(WireExpr(1), Put(b"x"))])), PLAIN)
    assert changed is not None
    assert changed[1] == 0


def test_other_side_of_a_withheld_prefix_gets_the_whole_key() -> None:
    link = Link(("robots/*/pose",))
    link.send(prefix(1, "robots/7"))
    use = Push(WireExpr(1, "/name", sender=False), Put(b"x"))
    whole = Push(key("robots/7/name"), Put(b"x"))
    assert link.send(use, direction=1) == [whole]
    assert link.send(*[use] * 40, direction=1) == [whole] * 40
    # A prefix that begins with a withheld one of the other side is recorded whole.
    assert link.send(prefix(2, "/a/b", 1), direction=1) == [prefix(2, "robots/7/a/b")]


def test_full_batch_loses_its_last_messages_for_a_declaration() -> None:
    link = Link(("**/pose",))
    link.send(prefix(1, "robot/" + "x" * 80))
    messages = [Push(WireExpr(1), Put(b"x" * 8)) for _ in range(6000)]
    seen = link.send(*messages)
    assert isinstance(seen[0], Declare)
    lost = link.redactor.counts.undecodable
    assert 0 < lost < 20
    assert len(seen) == 1 + len(messages) - lost


def test_number_of_two_prefixes_is_not_used() -> None:
    for texts in (("secret/a", "public/a"), ("public/a", "secret/a")):
        link = Link(("secret/**",))
        link.send(*[prefix(1, text) for text in texts])
        use = Push(WireExpr(1), Put(b"x"))
        assert link.send(use) == []
        link.send(Declare(UndeclareKeyExpr(1)))
        assert link.send(prefix(1, "public/b"), use) == [prefix(1, "public/b"), use]
        assert link.send(prefix(1, "public/b"), use) == [prefix(1, "public/b"), use]


def test_number_of_two_prefixes_that_no_rule_concerns_stays() -> None:
    twice = [prefix(1, "public/a"), prefix(1, "public/b")]
    assert Link(("secret/**",)).send(*twice) == twice
    assert Link(("secret/**",), ("public/b",)).send(*twice) == twice[:1]


def test_prefixes_are_unknown_after_a_lost_batch() -> None:
    link = Link(("secret/**",))
    link.send(prefix(1, "public/a"))
    use = Push(WireExpr(1), Put(b"x"))
    link.link.lost(0, is_plain=True)
    assert link.send(use) == [use]
    link.link.lost(1, is_plain=False)
    assert link.send(use) == [use]
    link.link.lost(0, is_plain=False)
    assert link.send(use) == []


# --- declarations and interests ------------------------------------------------------------------


def test_excluded_declarations_are_removed_with_their_end() -> None:
    link = Link(("secret/**",))
    secret = key("secret/hunter2")
    kinds = (DeclareSubscriber, DeclareQueryable, DeclareToken)
    assert link.send(*[Declare(kind(3, secret)) for kind in kinds]) == []
    assert link.send(Declare(UndeclareSubscriber(3)), Declare(UndeclareToken(3))) == []
    unseen = Declare(UndeclareToken(4, key=UndeclaredKey(secret)))
    assert link.send(unseen) == []
    empty = Declare(UndeclareToken(4, key=UndeclaredKey(WireExpr(0, "", False))))
    assert link.send(empty) == [empty]  # as deployed nodes send it
    wild = [Declare(DeclareSubscriber(5, key("**"))), Declare(DeclareQueryable(5, key("**")))]
    assert link.send(*wild) == wild
    assert link.send(Declare(DeclareToken(5, key("**")))) == []
    again = [Declare(DeclareSubscriber(3, key("public"))), Declare(UndeclareSubscriber(3))]
    assert link.send(*again) == again
    assert SECRET not in link.recorded


def test_excluded_interest_is_removed_with_its_answers() -> None:
    link = Link(("secret/**",))
    asked = Interest(InterestMode.CURRENT_FUTURE, 8, tokens=True, key=key("secret/hunter2"))
    assert link.send(asked) == []
    token = Declare(DeclareToken(1, key("secret/hunter2")), interest_id=8)
    wild = Declare(DeclareSubscriber(1, key("**")), interest_id=8)
    final = Declare(DeclareFinal(), interest_id=8)
    assert link.send(token, wild, final, direction=1) == []
    assert link.send(Declare(UndeclareSubscriber(1)), direction=1) == []
    assert link.send(Interest(InterestMode.FINAL, 8)) == []
    other = Interest(InterestMode.CURRENT, 8, subscribers=True)
    assert link.send(other) == [other]
    final = Declare(DeclareFinal(), interest_id=8)
    assert link.send(final, direction=1) == [final]
    assert SECRET not in link.recorded


# --- queries -------------------------------------------------------------------------------------


def test_excluded_query_is_removed_with_its_replies() -> None:
    link = Link(("secret/**",))
    query = Query(parameters="pin=hunter2", body=QueryBody(Encoding(0), b"hunter2"))
    assert link.send(Request(1, key("secret/a"), query)) == []
    replies = [
        Response(1, key("secret/a"), Reply(Put(b"hunter2"))),
        Response(1, key("public/a"), Reply(Put(b"hunter2"))),
        Response(1, key(""), Err(b"hunter2")),
        ResponseFinal(1),
    ]
    assert link.send(*replies, direction=1) == []
    assert SECRET not in link.recorded
    # The id is free again.
    asked = Request(1, key("public/a"), Query())
    assert link.send(asked) == [asked]
    assert link.send(ResponseFinal(1), direction=1) == [ResponseFinal(1)]


def test_query_of_everything_is_kept_without_content() -> None:
    link = Link(("secret/**",))
    query = Query(
        parameters="pin=hunter2", body=QueryBody(Encoding(0), b"hunter2"), attachment=b"hunter2"
    )
    [seen] = link.send(Request(1, key("**"), query))
    assert seen == Request(1, key("**"), Query(body=QueryBody(Encoding(0), b""), attachment=b""))
    public = Response(1, key("public/a"), Reply(Put(b"x")))
    secret = Response(1, key("secret/a"), Reply(Put(b"hunter2")))
    errors = [Response(1, key(text), Err(b"hunter2")) for text in ("", "**")]
    seen_replies = link.send(public, secret, *errors, ResponseFinal(1), direction=1)
    emptied = [Response(1, key(text), Err(b"")) for text in ("", "**")]
    assert seen_replies == [public, *emptied, ResponseFinal(1)]
    assert SECRET not in link.recorded
    error = Response(2, key(""), Err(b"Timeout"))  # of a query about another key
    assert link.send(error, direction=1) == [error]


def test_payloads_of_queries_and_replies_are_dropped() -> None:
    link = Link((), ("camera/**",))
    query = Query(parameters="a=b", body=QueryBody(Encoding(0), b"hunter2"))
    [seen] = link.send(Request(1, key("camera/1"), query))
    assert seen == Request(
        1, key("camera/1"), Query(parameters="a=b", body=QueryBody(Encoding(0), b""))
    )
    replies = [
        Response(1, key("camera/1"), Reply(Put(b"hunter2"))),
        Response(1, key("camera/1"), Reply(Del(attachment=b"hunter2"))),
        Response(1, key("camera/1"), Err(b"hunter2")),
    ]
    assert link.send(*replies, direction=1) == [
        Response(1, key("camera/1"), Reply(Put(b""))),
        Response(1, key("camera/1"), Reply(Del(attachment=b""))),
        Response(1, key("camera/1"), Err(b"")),
    ]
    assert SECRET not in link.recorded
