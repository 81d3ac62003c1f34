"""Redaction: what rules remove does not reach the disk, and the rest is recorded unchanged."""

from __future__ import annotations

from random import Random

import pytest

from tests.chance import IS_FULL, first_seed
from zenlake.capture.segment_format import PLAIN
from zenlake.errors import LocalError
from zenlake.limits import BATCH_BYTES_MAX, REDACTION_BYTES_MAX
from zenlake.protocol.offer import Agreed
from zenlake.protocol.transport import Transport
from zenlake.protocol.user_password import challenge, response
from zenlake.recording.redaction import LinkRedactor, Redactor
from zenlake.recording.redaction_rules import DROPPED, EXCLUDED, FREE, PARTLY, RedactionRules
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Encoding,
    Err,
    Extension,
    Fragment,
    Frame,
    Init,
    Interest,
    InterestMode,
    Join,
    NetworkMessage,
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
    ZenohId,
    decode_batch,
    encode_messages,
)
from zenlake.wire.compression import compress_batch

ZID = ZenohId.from_int(7)
SECRET = b"hunter2"


def key(text: str) -> WireExpr:
    return WireExpr(0, text)


class Link:
    """Two nodes and a redactor between them: `send` returns what a reader of the recording gets."""

    def __init__(
        self,
        exclude: tuple[str, ...] = (),
        drop_payload: tuple[str, ...] = (),
        *,
        compression: bool = False,
        low_latency: bool = False,
        patch: int = 1,
        batch_size: int = 65_535,
    ) -> None:
        self.redactor = Redactor(RedactionRules(exclude, drop_payload))
        self.link = self.redactor.link()
        self.is_compressed = compression
        self.recorded = b""
        ack = Init(WhatAmI.ROUTER, ZID, cookie=b"c", compression=compression, patch=patch or None)
        ack.lowlatency = low_latency
        self.hand(0, Init(WhatAmI.CLIENT, ZID))
        self.hand(1, ack)
        self.hand(0, Open(1000, 0, cookie=b"c"))
        self.hand(1, Open(1000, 0))
        agreed = Agreed(
            ZID,
            WhatAmI.ROUTER,
            qos=not low_latency,
            compression=compression,
            low_latency=low_latency,
            patch=patch,
            batch_size=batch_size,
        )
        self.senders = [Transport(agreed, 0.0, is_stream=False) for _ in "ab"]
        # The beginning of a long message in one frame may exceed what was agreed.
        agreed.batch_size = BATCH_BYTES_MAX
        self.readers = [Transport(agreed, 0.0, is_stream=False) for _ in "ab"]

    def hand(self, direction: int, message: Init | Open) -> bytes:
        changed = self.link.batch(direction, bytes(message), 0)
        assert changed is not None
        return changed[0]

    def send(
        self, *messages: NetworkMessage, direction: int = 0, flags: int = 0, reliable: bool = True
    ) -> list[NetworkMessage]:
        sender = self.senders[direction]
        for message in messages:
            sender.push(bytes(message), 5, reliable, False)
        found: list[NetworkMessage] = []
        while (unit := sender.next_unit(0.0)) is not None:
            found += self.record(direction, unit, flags)
        return found

    def record(self, direction: int, unit: bytes, flags: int = 0) -> list[NetworkMessage]:
        changed = self.link.batch(direction, unit, flags)
        if changed is None or not changed[0]:
            return []
        assert len(changed[0]) <= BATCH_BYTES_MAX
        self.recorded += changed[0]
        reader = self.readers[direction]
        deliveries = reader.receive(changed[0], 0.0)
        assert not reader.inbound.stale_frames
        assert not reader.inbound.reassembly.dropped_fragments
        return [message for delivery in deliveries for message in delivery.messages]

    @property
    def counts(self) -> tuple[int, int, int]:
        counts = self.redactor.counts
        return counts.removed, counts.emptied, counts.undecodable


PUBLIC = Push(key("public/a"), Put(b"hello"))


# --- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("secret/a", EXCLUDED),
        ("secret", EXCLUDED),
        ("secret/*/b", EXCLUDED),
        ("**", PARTLY),
        ("*/a", PARTLY),
        ("public/a", FREE),
        ("camera/7", DROPPED),
        ("camera/**", DROPPED),
        ("secret/a/@adv/pub/1", EXCLUDED),
        ("@/1f/router/subscriber/secret/a", EXCLUDED),
        ("@/1f/router/subscriber/public/a", FREE),
        ("a//b", EXCLUDED),
        ("", EXCLUDED),
        ("x" * 5000, EXCLUDED),
    ],
)
def test_verdict_on_a_key(text: str, verdict: int) -> None:
    rules = RedactionRules(["secret/**"], ["camera/*"])
    assert rules.verdict(text) == verdict
    assert rules.verdict(text) == verdict  # from the cache


def test_verdicts_of_many_keys_stay_right_when_the_cache_is_full() -> None:
    rules = RedactionRules(["secret/**"])
    for number in range(40_000):
        assert rules.verdict(f"public/{number}") == FREE
    assert rules.verdict("secret/1") == EXCLUDED


def test_rule_must_be_a_key_expression() -> None:
    with pytest.raises(LocalError, match="a redaction rule needs a key expression"):
        RedactionRules(["a//b"])


@pytest.mark.parametrize("prefix", ["secret", "secret/hun", "secret/hunter2", "sec", "*", "s/"])
def test_prefix_may_begin_an_excluded_key(prefix: str) -> None:
    assert RedactionRules(["secret/*/pose"]).may_begin_excluded(prefix)


@pytest.mark.parametrize("prefix", ["public", "public/secret", "secrets"])
def test_prefix_cannot_begin_an_excluded_key(prefix: str) -> None:
    assert not RedactionRules(["secret/*/pose"]).may_begin_excluded(prefix)


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


def prefix(number: int, text: str, scope: int = 0) -> Declare:
    return Declare(DeclareKeyExpr(number, WireExpr(scope, text, False)))


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


# --- fragments -----------------------------------------------------------------------------------

LONG = b"hunter2 " * 40_000


@pytest.mark.parametrize("patch", [0, 1])
@pytest.mark.parametrize("compression", [False, True])
def test_long_message_is_removed_or_kept(patch: int, compression: bool) -> None:
    link = Link(("secret/**",), ("camera/*",), patch=patch, compression=compression)
    kept = Push(key("public/a"), Put(b"x" * 300_000))
    assert link.send(Push(key("secret/a"), Put(LONG))) == []
    assert link.send(kept) == [kept]
    assert link.send(Push(key("camera/1"), Put(LONG))) == [Push(key("camera/1"), Put(b""))]
    assert link.send(PUBLIC) == [PUBLIC]
    assert SECRET not in link.recorded
    assert link.counts == (1, 1, 0)


def test_long_query_and_reply_are_removed_or_emptied() -> None:
    link = Link(("secret/**",))
    query = Query(body=QueryBody(Encoding(0), LONG))
    assert link.send(Request(1, key("secret/a"), query)) == []
    assert link.send(Response(1, key(""), Err(LONG)), direction=1) == []
    [seen] = link.send(Request(2, key("**"), query))
    assert seen == Request(2, key("**"), Query(body=QueryBody(Encoding(0), b"")))
    assert link.send(Response(2, key("secret/a"), Reply(Put(LONG))), direction=1) == []
    [error] = link.send(Response(2, key(""), Err(LONG)), direction=1)
    assert error == Response(2, key(""), Err(b""))
    public = Response(2, key("public/a"), Reply(Put(b"y" * 100_000)))
    assert link.send(public, direction=1) == [public]
    assert SECRET not in link.recorded


def test_long_message_gets_its_whole_key_if_its_prefix_was_withheld() -> None:
    link = Link(("robots/*/pose",), batch_size=300)
    link.send(prefix(1, "robots/7"))
    value = Put(bytes(range(256)) * 20)
    assert link.send(Push(WireExpr(1, "/map"), value)) == [Push(key("robots/7/map"), value)]
    assert link.send(Push(WireExpr(1, "/pose"), value)) == []


def test_key_that_is_not_in_the_first_fragment() -> None:
    link = Link(("secret/**",), batch_size=100)
    name = "public/" + "x" * 200
    assert link.send(Push(key(name), Put(b"x"))) == [Push(key(name), Put(b"x"))]
    assert link.send(Push(key("secret/hunter2" + name), Put(b"hunter2"))) == []
    assert SECRET not in link.recorded


def test_number_that_a_sender_skips_after_fragments_is_filled() -> None:
    link = Link(("secret/**",), batch_size=1000)
    link.send(Push(key("secret/a"), Put(b"x" * 1500)))
    changed = link.link.batch(0, bytes(Frame(3, [PUBLIC])), PLAIN)
    assert changed is not None
    frames = decode_batch(changed[0]).messages
    assert [frame.sn for frame in frames if isinstance(frame, Frame)] == [2, 3]


def test_fragments_without_their_beginning_lose_their_payload() -> None:
    link = Link(("secret/**",), batch_size=200)
    sender = link.senders[0]
    for secret_first in (False, True):
        sender.push(bytes(Push(key("secret/a"), Put(b"hunter2 " * 100))), 5, True, False)
        units = []
        while (unit := sender.next_unit(0.0)) is not None:
            units.append(unit)
        if secret_first:
            link.link.batch(0, units[0], 0)
        for unit in units[2:]:
            changed = link.link.batch(0, unit, 0)
            assert changed is not None
            assert SECRET not in changed[0]


def test_memory_of_unfinished_messages_is_limited() -> None:
    redactor = Redactor(RedactionRules(["secret/**"], ["camera/**"]))
    assert redactor.memory.hold(REDACTION_BYTES_MAX - 100_000)
    link = Link((), ("camera/*",))
    link.redactor = redactor
    link.link = LinkRedactor(redactor)
    link.link.batch(1, bytes(Init(WhatAmI.ROUTER, ZID, cookie=b"c", patch=1)), 0)
    link.link.batch(1, bytes(Open(1000, 0)), 0)
    assert link.send(Push(key("camera/1"), Put(LONG))) == []
    assert redactor.counts.undecodable == 1
    short = Push(key("camera/1"), Put(b"x" * 70_000))
    assert link.send(short) == [Push(key("camera/1"), Put(b""))]
    names = [prefix(number, f"public/{number}" + "x" * 4000) for number in range(40)]
    assert 20 < len(link.send(*names)) < 40
    link.link.close()
    assert redactor.memory.hold(100_000)
    assert not redactor.memory.hold(1)


# --- other framings ------------------------------------------------------------------------------


def test_compressed_batches_are_recorded_uncompressed() -> None:
    link = Link(("secret/**",), compression=True)
    same = Push(key("public/a"), Put(b"hello " * 100))
    secret = Push(key("secret/hunter2"), Put(b"hunter2 " * 100))
    assert link.send(same, secret) == [same]
    assert b"hello " * 100 in link.recorded
    assert link.send(same) == [same]
    # Content that fills a batch, of a node that does not count the header.
    full = bytes(Frame(9, [Push(key("public/a"), Put(b"x" * 65_518))]))
    assert len(full) == BATCH_BYTES_MAX
    [seen] = link.record(0, compress_batch(full))
    assert isinstance(seen, Push)


def test_low_latency_units_are_removed_or_changed() -> None:
    link = Link(("secret/**", "robots/*/pose"), ("camera/*",), low_latency=True)
    assert link.send(PUBLIC) == [PUBLIC]
    assert link.send(Push(key("secret/a"), Put(b"hunter2"))) == []
    assert link.send(Push(key("camera/1"), Put(b"hunter2"))) == [Push(key("camera/1"), Put(b""))]
    assert link.send(prefix(1, "robots/7")) == []
    use = Push(WireExpr(1, "/name"), Put(b"x"))
    assert link.send(use) == [Push(key("robots/7/name"), Put(b"x"))]
    declared = Declare(DeclareSubscriber(1, WireExpr(1, "/name")))
    assert link.send(declared) == [Declare(DeclareSubscriber(1, key("robots/7/name")))]
    assert SECRET not in link.recorded
    assert link.link.batch(0, b"\x01hunter2", 0) is None


def test_member_of_a_group_is_redacted_without_a_handshake() -> None:
    redactor = Redactor(RedactionRules(["secret/**"]))
    link = redactor.link()
    join = bytes(Join(WhatAmI.PEER, ZID, 1000, 0, 0, patch=1))
    assert link.batch(1, join, 0) == (join, 0)
    secret = Push(key("secret/hunter2"), Put(b"hunter2"))
    changed = link.batch(1, bytes(Frame(0, [secret, PUBLIC])), PLAIN)
    assert changed == (bytes(Frame(0, [PUBLIC])), PLAIN)
    fragment = Fragment(1, bytes(secret)[:9], more=True, first=True)
    changed = link.batch(1, bytes(fragment), 0)
    assert changed is not None
    assert SECRET not in changed[0]
    assert link.batch(1, join, 0) == (join, 0)


# --- random traffic ------------------------------------------------------------------------------


def random_message(random: Random, secret: bool, names: list[int]) -> NetworkMessage:
    """A message with the secret in all its parts, on an excluded key, or without it anywhere."""
    root, word = ("secret", "hunter2") if secret else ("public", "hello")
    scope = random.choice([0, *names]) if names else 0
    text = f"/{word}/{random.randrange(9)}"
    name = WireExpr(scope, text) if scope else key(root + text)
    data = word.encode() * random.choice([1, 1, 1, 20, 500])
    put = Put(data, attachment=data[:20], encoding=Encoding(4, word.encode()))
    id = random.randrange(4) * 2 + secret
    choices = [
        Push(name, put),
        Push(name, put),
        Push(name, Del(attachment=data)),
        Request(id, name, Query(parameters=word, body=QueryBody(Encoding(0), data))),
        Response(id, name, Reply(put)),
        Response(id, name, Err(data)),
        Push(name, put) if secret else ResponseFinal(id),
        Declare(DeclareToken(id, name)),
        Declare(DeclareSubscriber(id, name)),
        Declare(UndeclareToken(id, key=UndeclaredKey(name))),
        Interest(InterestMode.CURRENT_FUTURE, id, tokens=True, key=name),
    ]
    return random.choice(choices)


@pytest.mark.parametrize("number", range(400 if IS_FULL else 60))
def test_random_traffic_loses_its_secrets_and_nothing_else(number: int) -> None:
    seed = first_seed() + number
    random = Random(seed)
    link = Link(
        ("secret/**",),
        compression=random.random() < 0.3,
        low_latency=random.random() < 0.2,
        patch=random.randrange(2),
        batch_size=random.choice([200, 1000, 65_535]),
    )
    names: dict[bool, list[int]] = {True: [], False: []}
    for index in range(4):
        is_secret = index % 2 == 0
        link.send(prefix(index + 1, f"{'secret' if is_secret else 'public'}/x{index}"))
        names[is_secret].append(index + 1)
    for _ in range(60):
        chosen = [random.random() < 0.4 for _ in range(random.randrange(1, 30))]
        sent = [(one, random_message(random, one, names[one])) for one in chosen]
        if link.senders[0].agreed.low_latency:
            sent = [pair for pair in sent if len(bytes(pair[1])) <= 200]
        seen = link.send(*[message for _, message in sent])
        assert seen == [message for is_secret, message in sent if not is_secret], f"seed {seed}"
    assert SECRET not in link.recorded, f"seed {seed}"
    assert b"secret" not in link.recorded, f"seed {seed}"
