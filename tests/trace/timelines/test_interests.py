"""Lifetimes of interests: each rule is tested with a few hand-made events."""

from __future__ import annotations

import pytest

from tests.paths import CAPTURES
from tests.trace.built_sessions import (
    ACCEPTOR,
    CAPTURE_NAMES,
    KEY,
    OPENER,
    BuiltGroup,
    BuiltSession,
    events_and_counts,
)
from zenlake import trace
from zenlake.limits import ANSWERS_PER_INTEREST_MAX
from zenlake.trace.timelines.interests import InterestLifetime, Interests, interests, option_letters
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    UndeclareSubscriber,
)
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.wire_expr import WireExpr

CURRENT, FUTURE, BOTH = InterestMode.CURRENT, InterestMode.FUTURE, InterestMode.CURRENT_FUTURE


def interest(id: int, mode: InterestMode = BOTH) -> Interest:
    return Interest(mode, id, keyexprs=True, subscribers=True, key=WireExpr(1))


def no_interest(id: int) -> Interest:
    return Interest(InterestMode.FINAL, id)


def subscriber(id: int, interest_id: int | None) -> Declare:
    return Declare(DeclareSubscriber(id, WireExpr(0, KEY)), interest_id=interest_id)


def final(interest_id: int | None) -> Declare:
    return Declare(DeclareFinal(), interest_id=interest_id)


def the_one(built: BuiltSession) -> InterestLifetime:
    [life] = interests(built.events)
    return life


def test_interest_has_its_answers_and_its_end() -> None:
    built = BuiltSession()
    opened = built.send(OPENER, interest(1), KEY)
    answers = [built.send(ACCEPTOR, subscriber(number, 1)) for number in (1, 2)]
    last = built.send(ACCEPTOR, final(1))
    built.send(ACCEPTOR, subscriber(3, None))
    closed = built.send(OPENER, no_interest(1))
    life = the_one(built)
    assert life.opened is opened
    assert life.declared == answers
    assert life.answered == 2
    assert life.final is last
    assert life.closed is closed
    assert life.ended_by == "closed"
    assert (life.id, life.mode, life.options, life.key) == (1, BOTH, "KSR", KEY)
    assert (life.sender_zid, life.receiver_zid) == ("aa", "bb")
    assert not life.is_initial


def test_options_are_letters() -> None:
    everything = Interest(
        BOTH, 1, True, True, True, True, aggregate=True, key=WireExpr(0, KEY, sender=False)
    )
    assert option_letters(everything) == "KSQTRA"
    assert option_letters(Interest(FUTURE, 1, tokens=True)) == "T"
    assert option_letters(Interest(FUTURE, 1)) == ""


def test_interest_of_mode_current_ends_with_the_final_declaration() -> None:
    built = BuiltSession()
    walker = Interests()
    walker.feed(built.send(OPENER, interest(1, CURRENT), KEY))
    walker.feed(built.send(ACCEPTOR, Declare(DeclareToken(0, WireExpr(0, KEY)), interest_id=1)))
    [life] = walker.feed(built.send(ACCEPTOR, final(1)))
    assert (life.answered, life.ended_by, life.closed) == (1, "final", None)


def test_interest_of_mode_future_stays_open() -> None:
    built = BuiltSession()
    built.send(OPENER, interest(1, FUTURE), KEY)
    last = built.send(ACCEPTOR, final(1))
    life = the_one(built)
    assert life.final is last
    assert life.ended_by is None


def test_initial_declarations_of_peers_are_one_lifetime() -> None:
    built = BuiltSession()
    walker = Interests()
    walker.feed(built.send(ACCEPTOR, subscriber(1, 0)))
    [life] = walker.feed(built.send(ACCEPTOR, final(0)))
    assert life.is_initial
    assert (life.id, life.opened, life.mode, life.options, life.key) == (0, None, None, None, None)
    assert (life.answered, life.ended_by) == (1, "final")
    assert (life.sender_zid, life.receiver_zid) == ("aa", "bb")
    [other] = walker.feed(built.send(OPENER, final(0)))
    assert (other.answered, other.sender_zid) == (0, "bb")


def test_each_side_has_its_own_ids() -> None:
    built = BuiltSession()
    built.send(OPENER, interest(1), "a")
    built.send(ACCEPTOR, interest(1), "b")
    built.send(OPENER, subscriber(1, 1))
    built.send(ACCEPTOR, no_interest(1))
    found = {life.key: (life.answered, life.ended_by) for life in interests(built.events)}
    assert found == {"a": (0, None), "b": (1, "closed")}


def test_answers_on_another_link_belong_to_the_interest() -> None:
    built = BuiltSession()
    built.send(OPENER, interest(1), KEY)
    built.second_link()
    built.send(ACCEPTOR, subscriber(1, 1))
    assert the_one(built).answered == 1


def test_answers_and_ends_without_an_interest_are_a_lifetime() -> None:
    built = BuiltSession()
    built.send(ACCEPTOR, subscriber(1, 5))
    built.send(ACCEPTOR, final(5))
    built.send(OPENER, no_interest(6))
    by_id = {life.id: life for life in interests(built.events)}
    assert by_id[5].opened is by_id[6].opened is None
    assert (by_id[5].answered, by_id[5].ended_by) == (1, None)
    assert by_id[6].ended_by == "closed"


def test_reused_id_is_another_interest() -> None:
    built = BuiltSession()
    built.send(OPENER, interest(1), "a")
    built.send(OPENER, interest(1), "b")
    built.send(ACCEPTOR, final(1))
    a, b = interests(built.events)
    assert (a.key, a.final) == ("a", None)
    assert b.key == "b"
    assert b.final is not None


def test_undeclarations_and_declarations_without_interest_id_answer_nothing() -> None:
    built = BuiltSession()
    built.send(OPENER, interest(1), KEY)
    built.send(ACCEPTOR, Declare(UndeclareSubscriber(1), interest_id=1))
    built.send(ACCEPTOR, subscriber(1, None))
    built.send(ACCEPTOR, final(None))
    life = the_one(built)
    assert (life.answered, life.final) == (0, None)


def test_ignored_messages_do_not_count() -> None:
    built = BuiltSession()
    built.send(OPENER, interest(1), KEY)
    built.send(ACCEPTOR, subscriber(1, 1)).ignored = "old sequence number"
    built.send(OPENER, interest(2), KEY).session = None
    assert the_one(built).answered == 0


@pytest.mark.parametrize("change", ["closed", "lost", "refused"])
def test_session_ends_its_open_interests(change: str) -> None:
    built = BuiltSession()
    walker = Interests()
    walker.feed(built.send(OPENER, interest(1), KEY))
    assert walker.feed(built.change("opened")) == []
    [life] = walker.feed(built.change(change))
    assert life.ended_by == "session"
    assert walker.finish() == []


def test_interest_after_the_end_of_its_session_ends_with_it() -> None:
    built = BuiltSession()
    built.change("lost")
    built.send(OPENER, interest(1), KEY)
    assert the_one(built).ended_by == "session"


def test_group_answers_go_to_the_latest_interest() -> None:
    built = BuiltGroup()
    built.send_as("m1", interest(1), KEY)
    built.send_as("m2", subscriber(1, 1))
    assert the_one(built).answered == 1


def test_answers_beyond_the_limit_are_counted() -> None:
    built = BuiltSession()
    built.send(OPENER, interest(1), KEY)
    for number in range(100):
        built.send(ACCEPTOR, subscriber(number, 1))
    life = the_one(built)
    assert (life.answered, len(life.declared)) == (100, ANSWERS_PER_INTEREST_MAX)


def test_interests_of_a_session_are_limited() -> None:
    built = BuiltSession()
    walker = Interests(per_session_max=2)
    for number in (1, 2):
        assert walker.feed(built.send(OPENER, interest(number), KEY)) == []
    [oldest] = walker.feed(built.send(OPENER, interest(3), KEY))
    assert oldest.id == 1


def test_real_publishers_have_interests() -> None:
    lifetimes = list(interests(trace.open(str(CAPTURES / "qos_matrix.pcap"))))
    assert len(lifetimes) == 84
    assert {(life.mode, life.options, life.ended_by) for life in lifetimes} == {
        (BOTH, "KSR", "session")
    }
    assert all(life.answered == 1 and life.final and life.key for life in lifetimes)


def test_real_interest_is_closed() -> None:
    lifetimes = interests(trace.open(str(CAPTURES / "pubsub_router.pcapng")))
    assert sorted(str(life.ended_by) for life in lifetimes) == ["closed", "session", "session"]


@pytest.mark.parametrize("name", CAPTURE_NAMES)
def test_every_real_interest_and_final_declaration_is_in_one_lifetime(name: str) -> None:
    events, counts = events_and_counts(name)
    lifetimes = list(interests(events))
    asked = sum(life.opened is not None for life in lifetimes)
    closed = sum(life.closed is not None for life in lifetimes)
    assert asked + closed == counts["INTEREST"]
    assert sum(life.final is not None for life in lifetimes) == counts["DECLARE/D_FINAL"]
