"""Messages in fragments: the rules of wire reference §7, and the limits (F04 to F06)."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chance import IS_FULL
from tests.protocol.transports import SN_BITS, agree, payloads, put, transport, units
from zenlake.limits import (
    FRAGMENT_IDLE_SECONDS_MAX,
    MESSAGE_BYTES_MAX,
    REASSEMBLY_BYTES_MAX,
    REASSEMBLY_LARGE_BYTES_MAX,
    REASSEMBLY_MESSAGE_BYTES_MAX,
    REASSEMBLY_PROCESS_BYTES_MAX,
)
from zenlake.protocol.dropped_message import DroppedMessage
from zenlake.protocol.errors import TransportError
from zenlake.protocol.reassembly import (
    LARGE_KEY,
    MESSAGE_KEY,
    PROCESS_KEY,
    SESSION_KEY,
    HeldBytes,
    Reassembly,
    ReassemblyBudget,
)
from zenlake.protocol.transport import Transport
from zenlake.wire import Err, Fragment, Frame, Priority, Query, Request, Response, WireExpr

ERR = Err(b"")
WHOLE = bytes(put(b"0123456789"))
SCHEDULES = 10_000 if IS_FULL else 1_500


def receiver(patch: int = 1, **terms: Any) -> Transport:
    return transport(is_stream=False, patch=patch, **terms)


def play(to: Transport, *fragments: Fragment | Frame) -> list[bytes]:
    found = []
    for each in fragments:
        found += payloads(to.receive(bytes(each), 0.0))
    return found


def cut(sn: int, pieces: int = 3, data: bytes = WHOLE) -> list[Fragment]:
    size = -(-len(data) // pieces)
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    last = len(parts) - 1
    return [
        Fragment(sn + index, part, more=index < last, first=index == 0)
        for index, part in enumerate(parts)
    ]


def test_fragments_make_a_message() -> None:
    assert play(receiver(), *cut(0)) == [b"0123456789"]


def test_one_fragment_makes_a_message() -> None:
    assert play(receiver(), *cut(0, 1)) == [b"0123456789"]


@pytest.mark.parametrize(("patch", "expected"), [(1, []), (0, [b"0123456789"])])
def test_missing_first_marker_drops_fragments_with_patch_1(
    patch: int, expected: list[bytes]
) -> None:
    fragments = cut(0)
    fragments[0].first = False
    to = receiver(patch)
    assert play(to, *fragments) == expected
    assert to.inbound.reassembly.dropped_fragments == (3 if patch else 0)


def test_first_begins_again() -> None:
    to = receiver()
    assert play(to, *cut(0)[:2], *cut(2)) == [b"0123456789"]
    assert to.inbound.reassembly.dropped_messages == 1


def test_drop_marker_drops_the_message() -> None:
    to = receiver()
    first, second, third = cut(0)
    given_up = Fragment(2, b"", drop=True)
    assert play(to, first, second, given_up, third) == []
    assert play(to, *cut(4)) == [b"0123456789"]
    assert to.inbound.reassembly.dropped_messages == 1


def test_gap_loses_the_message_only() -> None:
    to = receiver()
    first, _, third = cut(0)
    assert play(to, first, third, *cut(3)) == [b"0123456789"]
    assert (to.inbound.reassembly.dropped_messages, to.inbound.reassembly.dropped_fragments) == (
        1,
        1,
    )


def test_frame_in_between_drops_the_message() -> None:
    """The FRAME is delivered, the fragmented message lost."""
    to = receiver()
    first, second, third = cut(0)
    second.sn, third.sn = 2, 3
    assert play(to, first, Frame(1, [put(b"between")]), second, third) == [b"between"]
    assert to.inbound.reassembly.dropped_messages == 1


def test_two_messages_in_one_buffer() -> None:
    to = receiver()
    assert play(to, *cut(0, 3, WHOLE + bytes(put(b"second")))) == [b"0123456789"]


@pytest.mark.parametrize("data", [b"\xff" * 9, WHOLE[:-1], bytes(put(b"x"))[:1] + b"\xff" * 8])
def test_unreadable_content_is_dropped_silently(data: bytes) -> None:
    to = receiver()
    assert play(to, *cut(0, 3, data)) == []
    assert to.inbound.ignored_messages == 1
    assert play(to, *cut(3)) == [b"0123456789"]


def test_empty_fragments() -> None:
    to = receiver()
    first, second, third = cut(2)
    empty = [Fragment(0, b"", more=True, first=True), Fragment(1, b"", more=True)]
    first.first = False
    assert play(to, *empty, first, second, third) == [b"0123456789"]
    assert play(to, Fragment(5, b"", first=True)) == []


# --- limits ----------------------------------------------------------------------------------


def test_message_beyond_its_limit_is_dropped() -> None:
    """Exactly the limit is delivered, one byte more is not, and the session goes on (F05)."""
    for excess, delivered in ((0, 1), (1, 0)):
        data = bytes(put(bytes(5000)))
        to = receiver(batch_size=1000, message_bytes_max=len(data) - excess)
        sender = transport(is_stream=False, batch_size=1000)
        sender.push(data, 5, True, False)
        sender.push(bytes(put(b"next")), 5, True, False)
        found = [got for unit in units(sender) for got in payloads(to.receive(unit, 0.0))]
        assert found == [bytes(5000)] * delivered + [b"next"]
        assert to.inbound.reassembly.dropped_messages == 1 - delivered
        assert to.inbound.reassembly.held_bytes() == 0


def test_limit_applies_to_a_single_fragment() -> None:
    to = receiver(message_bytes_max=len(WHOLE) - 1)
    assert play(to, *cut(0, 1)) == []
    assert to.inbound.reassembly.dropped_messages == 1


def test_default_limits() -> None:
    """1 GiB fits as in eclipse-zenoh; incomplete messages use at most 512 MiB."""
    assert agree().message_bytes_max == MESSAGE_BYTES_MAX == 1 << 30
    assert REASSEMBLY_MESSAGE_BYTES_MAX + REASSEMBLY_LARGE_BYTES_MAX >= MESSAGE_BYTES_MAX
    assert REASSEMBLY_MESSAGE_BYTES_MAX <= REASSEMBLY_BYTES_MAX < REASSEMBLY_PROCESS_BYTES_MAX
    assert ReassemblyBudget().limit_bytes == REASSEMBLY_PROCESS_BYTES_MAX == 512 << 20


def test_a_large_message_counts_as_one_of_ordinary_size_and_the_rest_apart() -> None:
    held = HeldBytes()
    budgets = [ReassemblyBudget(large_bytes_max=1000, held=held) for _ in range(2)]
    ordinary = REASSEMBLY_MESSAGE_BYTES_MAX
    assert budgets[0].charge(0, ordinary - 1) == ""
    assert budgets[0].charge(ordinary - 1, ordinary + 900) == ""
    assert (held.first, held.large) == (ordinary, 900)
    assert budgets[1].charge(ordinary, ordinary + 101) == LARGE_KEY
    assert budgets[1].charge(ordinary, ordinary + 100) == ""
    assert budgets[1].held_bytes == ordinary + 1000
    budgets[0].refund(0, ordinary + 900)
    assert (held.first, held.large) == (0, 100)


@pytest.mark.parametrize("patch", [0, 1])
@pytest.mark.parametrize(
    ("limit_key", "limits"),
    [
        (MESSAGE_KEY, {}),
        (SESSION_KEY, {"session_bytes_max": 1000}),
        (PROCESS_KEY, {"limit_bytes": 1000}),
    ],
)
def test_message_beyond_a_limit_is_skipped_and_reported(
    patch: int, limit_key: str, limits: dict[str, Any]
) -> None:
    """The rest must not be read as another message: the sender's user chooses these bytes."""
    budget = ReassemblyBudget(**limits)
    reassembly = Reassembly(0x7F, patch, 1000 if limit_key == MESSAGE_KEY else 10_000, budget)
    data = bytes(put(bytes(1200), "a/b")) + WHOLE
    parts = cut(0, 8, data)
    for part in parts:
        assert reassembly.report is None
        assert reassembly.add(0, part, 0.0) is None
    assert (reassembly.dropped_messages, reassembly.held_bytes(), budget.held_bytes) == (1, 0, 0)
    report = reassembly.report
    assert report is not None
    assert report.key() == WireExpr(0, "a/b")
    assert report.text("a/b") == (
        f"dropped a message on `a/b` of {len(data)} bytes: {limit_key} is 1000"
    )
    found = [reassembly.add(0, part, 0.0) for part in cut(8)]
    assert found == [None, None, WHOLE]


def test_message_beyond_a_limit_without_an_end_is_reported_when_it_expires() -> None:
    reassembly = Reassembly(0x7F, 1, 1000, ReassemblyBudget())
    reassembly.add(0, Fragment(0, b"\xff" + bytes(600), more=True, first=True), 0.0)
    reassembly.add(0, Fragment(1, bytes(600), more=True), 0.0)
    assert (reassembly.report, reassembly.dropped_messages) == (None, 1)
    reassembly.free_idle(FRAGMENT_IDLE_SECONDS_MAX)
    assert reassembly.dropped_messages == 1
    assert reassembly.report is not None
    assert reassembly.report.key() is None
    assert "an unknown key of at least 1201 bytes" in reassembly.report.text(None)


@given(st.binary(max_size=40))
def test_any_bytes_have_a_key_or_none(head: bytes) -> None:
    expr = DroppedMessage(head, MESSAGE_KEY, 1).key()
    assert expr is None or isinstance(expr, WireExpr)


def test_requests_and_responses_have_their_keys() -> None:
    for message in (Request(300, WireExpr(5, "/x"), Query()), Response(3, WireExpr(5, "/x"), ERR)):
        dropped = DroppedMessage(bytes(message), MESSAGE_KEY, 1)
        assert dropped.key() == WireExpr(5, "/x")


def test_session_beyond_its_limit_drops_a_message() -> None:
    budget = ReassemblyBudget(session_bytes_max=2500)
    reassembly = Reassembly(0x7F, 1, 1000, budget)
    for channel in range(3):
        assert reassembly.add(channel, Fragment(0, bytes(900), more=True, first=True), 0.0) is None
    assert (reassembly.held_bytes(), reassembly.dropped_messages) == (1800, 1)
    assert reassembly.add(0, Fragment(1, bytes(100)), 0.0) == bytes(1000)
    assert reassembly.held_bytes() == budget.held_bytes == 900


def test_limit_of_all_sessions_and_release() -> None:
    budget = ReassemblyBudget(1000)
    sessions = [Transport(agree(), 0.0, False, budget) for _ in range(3)]
    for each in sessions:
        play(each, Fragment(0, bytes(400), more=True, first=True))
    assert budget.held_bytes == 800
    assert [each.inbound.reassembly.dropped_messages for each in sessions] == [0, 0, 1]
    for each in sessions:
        each.release()
    assert budget.held_bytes == 0


def test_flood_of_first_fragments() -> None:
    """All lanes of 50 sessions: the bytes held are the bytes sent, and go after 10 s (F04)."""
    budget = ReassemblyBudget(40 << 20)
    sessions = [Transport(agree(), 0.0, False, budget) for _ in range(50)]
    for each in sessions:
        for priority in Priority:
            for reliable in (True, False):
                head = Fragment(0, bytes(60_000), reliable, True, priority, True)
                each.receive(bytes(head), 0.0)
    held = sum(each.inbound.reassembly.held_bytes() for each in sessions)
    assert (40 << 20) - 60_000 < held == budget.held_bytes <= 40 << 20
    for each in sessions:
        each.receive(b"\x04", 9.0)
        if each.inbound.reassembly.held_bytes():
            assert each.next_deadline() <= FRAGMENT_IDLE_SECONDS_MAX
        each.handle_timeout(FRAGMENT_IDLE_SECONDS_MAX)
    assert budget.held_bytes == 0


def test_fragments_of_one_byte_cost_one_byte() -> None:
    reassembly = Reassembly(0xFFFF_FFFF, 1, 10_000, ReassemblyBudget())
    for sn in range(9_000):
        reassembly.add(0, Fragment(sn, b"x", more=True, first=sn == 0), 0.0)
    pending = reassembly._pending[0]
    assert pending is not None
    assert pending.data.__sizeof__() < 20_000


def test_idle_message_is_dropped_and_its_tail_ignored() -> None:
    to = receiver()
    first, second, third = cut(0)
    to.receive(bytes(first), 1.0)
    to.receive(bytes(second), 5.0)
    to.handle_timeout(14.9)
    assert to.inbound.reassembly.dropped_messages == 0
    to.receive(b"\x04", 14.9)
    assert to.next_deadline() == 15.0
    to.handle_timeout(15.0)
    assert to.inbound.reassembly.dropped_messages == 1
    assert to.next_deadline() > 15.0
    assert payloads(to.receive(bytes(third), 15.1)) == []


def test_freed_while_a_fragment_is_added() -> None:
    """Another thread may free a message while a fragment is added: the budget stays correct."""
    budget = ReassemblyBudget()
    reassembly = Reassembly(0x7F, 1, 1000, budget)
    reassembly.add(0, Fragment(0, bytes(10), more=True, first=True), 0.0)
    pending = reassembly._pending[0]
    assert pending is not None
    reassembly.free_idle(100.0)
    reassembly._append(0, pending, Fragment(1, bytes(5), more=True), 100.0)
    assert budget.held_bytes == 0
    reassembly._append(0, pending, Fragment(2, bytes(1000), more=True), 100.0)
    assert pending.dropped is not None
    assert budget.held_bytes == 0


@pytest.mark.parametrize("terms", [{}, {"qos": False}])
def test_session_that_ends_refunds_its_bytes(terms: dict[str, bool]) -> None:
    for last in (b"\x03\x00", b"\xff"):
        budget = ReassemblyBudget()
        to = Transport(agree(**terms), 0.0, False, budget)
        play(to, cut(0)[0])
        assert budget.held_bytes > 0
        with suppress(TransportError):
            to.receive(last, 0.0)
        assert budget.held_bytes == 0


# --- loss, repetition, disorder (F06) --------------------------------------------------------


def lossy(source: random.Random, datagrams: list[bytes]) -> list[bytes]:
    """A link that loses, duplicates and reorders fragments."""
    kept = [each for each in datagrams if source.random() > 0.1]
    found = []
    for each in kept:
        found += [each] * (2 if source.random() < 0.1 else 1)
    for _ in range(len(found) // 10):
        at = source.randrange(len(found))
        found.insert(max(0, at - source.randrange(4)), found.pop(at))
    return found


def test_delivered_messages_are_complete_unique_and_in_order() -> None:
    """Each delivered message was sent, is complete, unique and in order, on any link."""
    for seed in range(SCHEDULES):
        source = random.Random(seed)
        terms: dict[str, Any] = {"sn_bits": source.choice(SN_BITS), "batch_size": 64}
        sender = transport(is_stream=False, **terms)
        to = receiver(**terms)
        for index in range(source.randrange(1, 24)):
            channel = source.randrange(8), source.random() < 0.5
            name = bytes([*channel, index])
            size = source.choice((0, 30, 90, 200))
            sender.push(bytes(put(name + name[-1:] * size)), *channel, False)
        order: dict[bytes, int] = {}
        for datagram in lossy(source, units(sender)):
            for delivery in to.receive(datagram, 0.0):
                for payload in payloads([delivery]):
                    assert len(payload) - 3 in (0, 30, 90, 200), seed
                    assert set(payload[2:]) == {payload[2]}, seed
                    assert payload[1] == delivery.reliable, seed
                    assert order.get(payload[:2], -1) < payload[2], seed
                    order[payload[:2]] = payload[2]
