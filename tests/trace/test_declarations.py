"""Lives of declarations, each rule by a few events made by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.trace.built_events import (
    ACCEPTOR,
    CAPTURE_NAMES,
    CAPTURES,
    KEY,
    OPENER,
    GroupTalk,
    Talk,
    taken,
)
from zenlake import trace
from zenlake.trace.timelines.declarations import DeclarationLifetime, Declarations, declarations
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.wire_expr import WireExpr

NO_KEY = UndeclaredKey(WireExpr(0))
"""The extension as it mostly comes: there, and empty."""


def subscriber(id: int, key: WireExpr | None = None, node_id: int | None = None) -> Declare:
    return Declare(DeclareSubscriber(id, key or WireExpr(0, KEY)), node_id=node_id)


def no_subscriber(id: int, key: WireExpr | None = None, node_id: int | None = None) -> Declare:
    extension = None if key is None else UndeclaredKey(key)
    return Declare(UndeclareSubscriber(id, key=extension), node_id=node_id)


def queryable(id: int, info: QueryableInfo | None = None) -> Declare:
    return Declare(DeclareQueryable(id, WireExpr(0, KEY), info=info))


def token(id: int, interest_id: int | None = None) -> Declare:
    return Declare(DeclareToken(id, WireExpr(0, KEY)), interest_id=interest_id)


def key_number(id: int, key: str) -> Declare:
    return Declare(DeclareKeyExpr(id, WireExpr(0, key)))


def the_one(talk: Talk) -> DeclarationLifetime:
    [life] = declarations(talk.events)
    return life


@pytest.mark.parametrize(
    ("entity", "begin", "end"),
    [
        ("keyexpr", key_number(3, KEY), Declare(UndeclareKeyExpr(3))),
        ("subscriber", subscriber(3), no_subscriber(3)),
        ("queryable", queryable(3), Declare(UndeclareQueryable(3, key=NO_KEY))),
        ("token", token(3), Declare(UndeclareToken(3, key=NO_KEY))),
    ],
)
def test_life_from_declaration_to_undeclaration(
    entity: str, begin: NetworkMessage, end: NetworkMessage
) -> None:
    talk = Talk()
    declared = talk.say(OPENER, begin, KEY)
    undeclared = talk.say(OPENER, end)
    life = the_one(talk)
    assert (life.entity, life.id, life.key) == (entity, 3, KEY)
    assert life.declared is declared
    assert life.undeclared is undeclared
    assert (life.ended_by, life.ended_ns) == ("undeclare", undeclared.time_ns)
    assert (life.sender_zid, life.receiver_zid) == ("aa", "bb")
    assert (life.interest_id, life.node_id, life.times_declared) == (None, None, 1)


def test_sides_number_their_own() -> None:
    talk = Talk()
    talk.say(OPENER, subscriber(1), "a")
    talk.say(ACCEPTOR, subscriber(1), "b")
    talk.say(ACCEPTOR, no_subscriber(1))
    found = {life.key: life.ended_by for life in declarations(talk.events)}
    assert found == {"a": None, "b": "undeclare"}


def test_entities_of_different_kinds_may_share_a_number() -> None:
    talk = Talk()
    talk.say(OPENER, subscriber(1), KEY)
    talk.say(OPENER, token(1), KEY)
    talk.say(OPENER, no_subscriber(1))
    found = {life.entity: life.ended_by for life in declarations(talk.events)}
    assert found == {"subscriber": "undeclare", "token": None}


def test_undeclaration_may_take_another_link() -> None:
    talk = Talk()
    talk.say(OPENER, subscriber(1), KEY)
    talk.second_link()
    talk.say(OPENER, no_subscriber(1))
    assert the_one(talk).ended_by == "undeclare"


def test_between_routers_node_and_key_say_which() -> None:
    talk = Talk()
    talk.say(OPENER, subscriber(0, node_id=2), "a")
    talk.say(OPENER, subscriber(0, node_id=3), "a")
    talk.say(OPENER, subscriber(0, node_id=2), "b")
    talk.say(OPENER, no_subscriber(0, WireExpr(0, "a"), node_id=3), "a")
    found = {(life.node_id, life.key): life.ended_by for life in declarations(talk.events)}
    assert found == {(2, "a"): None, (3, "a"): "undeclare", (2, "b"): None}


def test_unknown_alias_is_told_apart_as_it_is_written() -> None:
    talk = Talk()
    talk.say(OPENER, subscriber(0, WireExpr(4, "/a")))
    talk.say(OPENER, subscriber(0, WireExpr(4, "/b")))
    talk.say(OPENER, no_subscriber(0, WireExpr(4, "/b")))
    a, b = sorted(declarations(talk.events), key=lambda life: life.ended_by is not None)
    assert (a.key, a.ended_by) == (None, None)
    assert (b.key, b.ended_by) == (None, "undeclare")


def test_number_and_key_of_what_began_without_a_number() -> None:
    talk = Talk()
    talk.say(OPENER, subscriber(0), KEY)
    talk.say(OPENER, no_subscriber(9, WireExpr(0, KEY)), KEY)
    life = the_one(talk)
    assert (life.id, life.ended_by) == (0, "undeclare")


def test_end_of_something_never_declared() -> None:
    """A token that was there before the interest or before the capture."""
    talk = Talk()
    event = talk.say(ACCEPTOR, Declare(UndeclareToken(0, key=UndeclaredKey(WireExpr(0, KEY)))), KEY)
    life = the_one(talk)
    assert life.declared is None
    assert life.undeclared is event
    assert (life.entity, life.key, life.ended_by, life.times_declared) == (
        "token",
        KEY,
        "undeclare",
        0,
    )
    assert (life.sender_zid, life.receiver_zid) == ("bb", "aa")


def test_empty_extension_names_no_key() -> None:
    talk = Talk()
    talk.say(OPENER, Declare(UndeclareToken(5, key=NO_KEY)), "")
    assert the_one(talk).key is None


def test_token_that_answers_a_get_is_no_life() -> None:
    talk = Talk()
    walker = Declarations()
    told = talk.say(ACCEPTOR, token(0, interest_id=7), KEY)
    told.is_answer = True
    [answer] = walker.feed(told)
    assert answer.is_answer
    assert (answer.interest_id, answer.key, answer.ended_by) == (7, KEY, None)
    assert walker.finish() == []


def test_token_without_a_number_between_routers_is_a_life() -> None:
    talk = Talk()
    talk.say(ACCEPTOR, token(0), KEY)
    talk.change("closed")
    life = the_one(talk)
    assert (life.is_answer, life.ended_by) == (False, "session")


def test_numbered_token_that_answers_an_interest_is_a_life() -> None:
    talk = Talk()
    talk.say(ACCEPTOR, token(4, interest_id=7), KEY)
    talk.say(ACCEPTOR, token(4, interest_id=8), KEY)
    life = the_one(talk)
    assert (life.is_answer, life.interest_id, life.times_declared) == (False, 7, 2)


def test_queryable_declared_again_is_an_update() -> None:
    talk = Talk()
    first = talk.say(OPENER, queryable(1, QueryableInfo(False, 3)), KEY)
    talk.say(OPENER, queryable(1, QueryableInfo(True, 1)), KEY)
    life = the_one(talk)
    assert life.declared is first
    assert (life.complete, life.distance, life.times_declared) == (True, 1, 2)


def test_queryable_info_left_out_is_the_default() -> None:
    talk = Talk()
    talk.say(OPENER, queryable(1), KEY)
    talk.say(OPENER, subscriber(1), KEY)
    of_queryable, of_subscriber = declarations(talk.events)
    assert (of_queryable.complete, of_queryable.distance) == (False, 0)
    assert (of_subscriber.complete, of_subscriber.distance) == (None, None)


def test_key_number_taken_back_and_given_out_again() -> None:
    talk = Talk()
    talk.say(OPENER, key_number(1, "a"), "a")
    talk.say(OPENER, Declare(UndeclareKeyExpr(1)))
    talk.say(OPENER, key_number(1, "b"), "b")
    found = [(life.key, life.ended_by) for life in declarations(talk.events)]
    assert found == [("a", "undeclare"), ("b", None)]


def test_number_that_stands_for_another_key_is_another_life() -> None:
    """Its undeclaration was not captured."""
    talk = Talk()
    talk.say(OPENER, key_number(1, "a"), "a")
    talk.say(OPENER, key_number(1, "b"), "b")
    found = [(life.key, life.ended_by) for life in declarations(talk.events)]
    assert found == [("a", None), ("b", None)]


@pytest.mark.parametrize("change", ["closed", "lost", "refused"])
def test_session_ends_its_lives_and_no_others(change: str) -> None:
    one = Talk(name="a:1-b:2#1")
    two = Talk(one.events, name="a:1-b:2#2")
    one.say(OPENER, subscriber(1), "one")
    two.say(OPENER, subscriber(1), "two")
    end = one.change(change)
    found = [(life.key, life.ended_by, life.ended_ns) for life in declarations(one.events)]
    assert found == [("one", "session", end.time_ns), ("two", None, None)]


def test_declaration_after_the_end_of_its_session() -> None:
    """The other side has not heard of the end yet: it ends as it begins."""
    talk = Talk()
    talk.change("closed")
    said = talk.say(OPENER, subscriber(1), KEY)
    life = the_one(talk)
    assert (life.ended_by, life.ended_ns) == ("session", said.time_ns)


def test_member_that_leaves_a_group_ends_its_own() -> None:
    talk = GroupTalk()
    talk.say_as("m1", subscriber(0), KEY)
    talk.say_as("m2", subscriber(0), KEY)
    talk.become("m1")
    talk.change("left")
    found = {life.sender_zid: life.ended_by for life in declarations(talk.events)}
    assert found == {"zid of m1": "session", "zid of m2": None}


def test_final_and_ignored_messages_are_no_lives() -> None:
    talk = Talk()
    talk.say(OPENER, Declare(DeclareFinal(), interest_id=0))
    talk.say(OPENER, subscriber(1), KEY).ignored = "old sequence number"
    talk.say(OPENER, subscriber(2), KEY).session = None
    assert list(declarations(talk.events)) == []


def test_lives_of_a_session_are_limited() -> None:
    talk = Talk()
    walker = Declarations(per_session_max=3)
    for number in range(1, 4):
        assert walker.feed(talk.say(OPENER, subscriber(number), KEY)) == []
    [oldest] = walker.feed(talk.say(OPENER, subscriber(4), KEY))
    assert (oldest.id, oldest.ended_by) == (1, None)
    assert [life.id for life in walker.finish()] == [2, 3, 4]


def test_lives_of_all_sessions_are_limited() -> None:
    walker = Declarations(count_max=3)
    over: list[DeclarationLifetime] = []
    for number in range(10):
        talk = Talk(name=f"a:1-b:2#{number}")
        over += walker.feed(talk.say(OPENER, subscriber(1), str(number)))
    assert [life.key for life in over] == ["0", "1", "2", "3", "4", "5", "6"]
    assert [life.key for life in walker.finish()] == ["7", "8", "9"]


def test_real_subscribers_and_key_numbers() -> None:
    """Ten D_SUBSCRIBER: one of them repeats a number for a second interest."""
    lives = list(declarations(trace.open(str(CAPTURES / "pubsub_router.pcapng"))))
    assert Counter((life.entity, life.ended_by) for life in lives) == {
        ("keyexpr", "session"): 5,
        ("subscriber", "undeclare"): 6,
        ("subscriber", "session"): 3,
    }
    assert sum(life.times_declared for life in lives if life.entity == "subscriber") == 10
    assert all(life.key and life.sender_zid and life.receiver_zid for life in lives)


@pytest.mark.parametrize("name", CAPTURE_NAMES)
def test_every_real_declaration_belongs_to_one_life(name: str) -> None:
    events, counts = taken(name)
    told: Counter[str] = Counter()
    undeclared: Counter[str] = Counter()
    for life in declarations(events):
        told[life.entity] += life.times_declared
        undeclared[life.entity] += life.undeclared is not None
    for entity in ("keyexpr", "subscriber", "queryable", "token"):
        assert told[entity] == counts[f"DECLARE/D_{entity.upper()}"]
        assert undeclared[entity] == counts[f"DECLARE/U_{entity.upper()}"]
