"""Redaction of long messages, other framings, groups, and random traffic."""

from __future__ import annotations

from random import Random

import pytest

from tests.chance import IS_FULL, first_seed
from tests.recording.redacted_link import PUBLIC, SECRET, ZID, Link, key, prefix
from zenlake.capture.segment_format import PLAIN
from zenlake.limits import BATCH_BYTES_MAX, REDACTION_BYTES_MAX
from zenlake.recording.redaction import LinkRedactor, Redactor
from zenlake.recording.redaction_rules import RedactionRules
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Encoding,
    Err,
    Fragment,
    Frame,
    Init,
    Interest,
    InterestMode,
    Join,
    NetworkMessage,
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
    UndeclareToken,
    WhatAmI,
    WireExpr,
    decode_batch,
)
from zenlake.wire.compression import compress_batch

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
