"""Lifetimes of declarations: each rule is tested with a few hand-made events."""

from __future__ import annotations

from collections import Counter

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
"""The extension as most nodes send it: present and empty."""


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


def the_one(built: BuiltSession) -> DeclarationLifetime:
    [life] = declarations(built.events)
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
def test_lifetime_lasts_from_declaration_to_undeclaration(
    entity: str, begin: NetworkMessage, end: NetworkMessage
) -> None:
    built = BuiltSession()
    declared = built.send(OPENER, begin, KEY)
    undeclared = built.send(OPENER, end)
    life = the_one(built)
    assert (life.entity, life.id, life.key) == (entity, 3, KEY)
    assert life.declared is declared
    assert life.undeclared is undeclared
    assert (life.ended_by, life.ended_ns) == ("undeclare", undeclared.time_ns)
    assert (life.sender_zid, life.receiver_zid) == ("aa", "bb")
    assert (life.interest_id, life.node_id, life.times_declared) == (None, None, 1)


def test_each_side_has_its_own_ids() -> None:
    built = BuiltSession()
    built.send(OPENER, subscriber(1), "a")
    built.send(ACCEPTOR, subscriber(1), "b")
    built.send(ACCEPTOR, no_subscriber(1))
    found = {life.key: life.ended_by for life in declarations(built.events)}
    assert found == {"a": None, "b": "undeclare"}


def test_entities_of_different_kinds_may_share_an_id() -> None:
    built = BuiltSession()
    built.send(OPENER, subscriber(1), KEY)
    built.send(OPENER, token(1), KEY)
    built.send(OPENER, no_subscriber(1))
    found = {life.entity: life.ended_by for life in declarations(built.events)}
    assert found == {"subscriber": "undeclare", "token": None}


def test_undeclaration_on_another_link_ends_the_lifetime() -> None:
    built = BuiltSession()
    built.send(OPENER, subscriber(1), KEY)
    built.second_link()
    built.send(OPENER, no_subscriber(1))
    assert the_one(built).ended_by == "undeclare"


def test_between_routers_node_and_key_identify_an_entity() -> None:
    built = BuiltSession()
    built.send(OPENER, subscriber(0, node_id=2), "a")
    built.send(OPENER, subscriber(0, node_id=3), "a")
    built.send(OPENER, subscriber(0, node_id=2), "b")
    built.send(OPENER, no_subscriber(0, WireExpr(0, "a"), node_id=3), "a")
    found = {(life.node_id, life.key): life.ended_by for life in declarations(built.events)}
    assert found == {(2, "a"): None, (3, "a"): "undeclare", (2, "b"): None}


def test_entities_with_unknown_aliases_differ_by_the_key_as_sent() -> None:
    built = BuiltSession()
    built.send(OPENER, subscriber(0, WireExpr(4, "/a")))
    built.send(OPENER, subscriber(0, WireExpr(4, "/b")))
    built.send(OPENER, no_subscriber(0, WireExpr(4, "/b")))
    a, b = sorted(declarations(built.events), key=lambda life: life.ended_by is not None)
    assert (a.key, a.ended_by) == (None, None)
    assert (b.key, b.ended_by) == (None, "undeclare")


def test_undeclaration_with_an_id_may_end_a_declaration_by_its_key() -> None:
    built = BuiltSession()
    built.send(OPENER, subscriber(0), KEY)
    built.send(OPENER, no_subscriber(9, WireExpr(0, KEY)), KEY)
    life = the_one(built)
    assert (life.id, life.ended_by) == (0, "undeclare")


def test_undeclaration_without_a_declaration_is_a_lifetime() -> None:
    """A token that existed before the interest or before the capture."""
    built = BuiltSession()
    event = built.send(
        ACCEPTOR, Declare(UndeclareToken(0, key=UndeclaredKey(WireExpr(0, KEY)))), KEY
    )
    life = the_one(built)
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
    built = BuiltSession()
    built.send(OPENER, Declare(UndeclareToken(5, key=NO_KEY)), "")
    assert the_one(built).key is None


def test_token_that_answers_a_get_has_no_end() -> None:
    built = BuiltSession()
    walker = Declarations()
    declared = built.send(ACCEPTOR, token(0, interest_id=7), KEY)
    declared.is_answer = True
    [answer] = walker.feed(declared)
    assert answer.is_answer
    assert (answer.interest_id, answer.key, answer.ended_by) == (7, KEY, None)
    assert walker.finish() == []


def test_token_without_an_id_between_routers_has_a_lifetime() -> None:
    built = BuiltSession()
    built.send(ACCEPTOR, token(0), KEY)
    built.change("closed")
    life = the_one(built)
    assert (life.is_answer, life.ended_by) == (False, "session")


def test_token_with_an_id_that_answers_an_interest_has_a_lifetime() -> None:
    built = BuiltSession()
    built.send(ACCEPTOR, token(4, interest_id=7), KEY)
    built.send(ACCEPTOR, token(4, interest_id=8), KEY)
    life = the_one(built)
    assert (life.is_answer, life.interest_id, life.times_declared) == (False, 7, 2)


def test_queryable_declared_again_is_an_update() -> None:
    built = BuiltSession()
    first = built.send(OPENER, queryable(1, QueryableInfo(False, 3)), KEY)
    built.send(OPENER, queryable(1, QueryableInfo(True, 1)), KEY)
    life = the_one(built)
    assert life.declared is first
    assert (life.complete, life.distance, life.times_declared) == (True, 1, 2)


def test_queryable_info_left_out_is_the_default() -> None:
    built = BuiltSession()
    built.send(OPENER, queryable(1), KEY)
    built.send(OPENER, subscriber(1), KEY)
    of_queryable, of_subscriber = declarations(built.events)
    assert (of_queryable.complete, of_queryable.distance) == (False, 0)
    assert (of_subscriber.complete, of_subscriber.distance) == (None, None)


def test_reused_alias_has_two_lifetimes() -> None:
    built = BuiltSession()
    built.send(OPENER, key_number(1, "a"), "a")
    built.send(OPENER, Declare(UndeclareKeyExpr(1)))
    built.send(OPENER, key_number(1, "b"), "b")
    found = [(life.key, life.ended_by) for life in declarations(built.events)]
    assert found == [("a", "undeclare"), ("b", None)]


def test_id_with_another_key_is_another_lifetime() -> None:
    """Its undeclaration was not captured."""
    built = BuiltSession()
    built.send(OPENER, key_number(1, "a"), "a")
    built.send(OPENER, key_number(1, "b"), "b")
    found = [(life.key, life.ended_by) for life in declarations(built.events)]
    assert found == [("a", None), ("b", None)]


@pytest.mark.parametrize("change", ["closed", "lost", "refused"])
def test_session_ends_its_lifetimes_and_no_others(change: str) -> None:
    one = BuiltSession(name="a:1-b:2#1")
    two = BuiltSession(one.events, name="a:1-b:2#2")
    one.send(OPENER, subscriber(1), "one")
    two.send(OPENER, subscriber(1), "two")
    end = one.change(change)
    found = [(life.key, life.ended_by, life.ended_ns) for life in declarations(one.events)]
    assert found == [("one", "session", end.time_ns), ("two", None, None)]


def test_declaration_after_the_end_of_its_session_ends_at_once() -> None:
    """The declaration crossed the CLOSE on the wire."""
    built = BuiltSession()
    built.change("closed")
    said = built.send(OPENER, subscriber(1), KEY)
    life = the_one(built)
    assert (life.ended_by, life.ended_ns) == ("session", said.time_ns)


def test_member_that_leaves_a_group_ends_its_own_declarations() -> None:
    built = BuiltGroup()
    built.send_as("m1", subscriber(0), KEY)
    built.send_as("m2", subscriber(0), KEY)
    built.become("m1")
    built.change("left")
    found = {life.sender_zid: life.ended_by for life in declarations(built.events)}
    assert found == {"zid of m1": "session", "zid of m2": None}


def test_final_and_ignored_messages_have_no_lifetime() -> None:
    built = BuiltSession()
    built.send(OPENER, Declare(DeclareFinal(), interest_id=0))
    built.send(OPENER, subscriber(1), KEY).ignored = "old sequence number"
    built.send(OPENER, subscriber(2), KEY).session = None
    assert list(declarations(built.events)) == []


def test_lifetimes_of_a_session_are_limited() -> None:
    built = BuiltSession()
    walker = Declarations(per_session_max=3)
    for number in range(1, 4):
        assert walker.feed(built.send(OPENER, subscriber(number), KEY)) == []
    [oldest] = walker.feed(built.send(OPENER, subscriber(4), KEY))
    assert (oldest.id, oldest.ended_by) == (1, None)
    assert [life.id for life in walker.finish()] == [2, 3, 4]


def test_lifetimes_of_all_sessions_are_limited() -> None:
    walker = Declarations(count_max=3)
    over: list[DeclarationLifetime] = []
    for number in range(10):
        built = BuiltSession(name=f"a:1-b:2#{number}")
        over += walker.feed(built.send(OPENER, subscriber(1), str(number)))
    assert [life.key for life in over] == ["0", "1", "2", "3", "4", "5", "6"]
    assert [life.key for life in walker.finish()] == ["7", "8", "9"]


def test_real_subscribers_and_aliases_have_lifetimes() -> None:
    """Of ten D_SUBSCRIBER, one repeats an id for a second interest."""
    lifetimes = list(declarations(trace.open(str(CAPTURES / "pubsub_router.pcapng"))))
    assert Counter((life.entity, life.ended_by) for life in lifetimes) == {
        ("keyexpr", "session"): 5,
        ("subscriber", "undeclare"): 6,
        ("subscriber", "session"): 3,
    }
    assert sum(life.times_declared for life in lifetimes if life.entity == "subscriber") == 10
    assert all(life.key and life.sender_zid and life.receiver_zid for life in lifetimes)


@pytest.mark.parametrize("name", CAPTURE_NAMES)
def test_every_real_declaration_belongs_to_one_lifetime(name: str) -> None:
    events, counts = events_and_counts(name)
    declared: Counter[str] = Counter()
    undeclared: Counter[str] = Counter()
    for life in declarations(events):
        declared[life.entity] += life.times_declared
        undeclared[life.entity] += life.undeclared is not None
    for entity in ("keyexpr", "subscriber", "queryable", "token"):
        assert declared[entity] == counts[f"DECLARE/D_{entity.upper()}"]
        assert undeclared[entity] == counts[f"DECLARE/U_{entity.upper()}"]
