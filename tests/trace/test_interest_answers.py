"""Declarations with id 0: answers without an end, or ordinary lifetimes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.why.bundled_stories import path_of, truth_of
from tests.why.scene import Connection, Scene, all_announced, key, no_token, token
from zenlake import trace
from zenlake.trace.interest_answers import remember_mode
from zenlake.trace.timelines.declarations import declarations
from zenlake.wire import (
    Declare,
    DeclareQueryable,
    DeclareSubscriber,
    Interest,
    UndeclaredKey,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.choices import InterestMode

CURRENT, BOTH = InterestMode.CURRENT, InterestMode.CURRENT_FUTURE


class ShortLifetime(NamedTuple):
    """The main attributes of a lifetime."""

    entity: str
    key: str | None
    is_answer: bool
    ended_by: str | None


def interest(mode: InterestMode, number: int = 7) -> Interest:
    asked = {"keyexprs": True, "tokens": True, "subscribers": True, "queryables": True}
    return Interest(mode, number, key=key("**"), **asked)  # type: ignore[arg-type]  # by name


def subscriber(interest_id: int | None) -> Declare:
    return Declare(DeclareSubscriber(0, key("a")), interest_id=interest_id)


def queryable(interest_id: int | None) -> Declare:
    return Declare(DeclareQueryable(0, key("a")), interest_id=interest_id)


def end_by_key(text: str) -> Declare:
    return Declare(UndeclareToken(0, key=UndeclaredKey(key(text))))


def talk(path: Path, *messages: NetworkMessage) -> None:
    """Writes a capture: a client sends an interest, the router the messages; the client leaves."""
    scene = Scene(path)
    client = Connection(scene, "c1", 40_001)
    client.open()
    for message in messages:
        (client.up if isinstance(message, Interest) else client.down)(message)
    client.end(close=True)
    scene.close()


def lifetimes(path: Path | str) -> list[ShortLifetime]:
    return [
        ShortLifetime(life.entity, life.key, life.is_answer, life.ended_by)
        for life in declarations(trace.open(str(path)))
        if life.entity != "keyexpr"
    ]


CASES: dict[str, tuple[list[NetworkMessage], list[ShortLifetime]]] = {
    "of a get": (
        [interest(CURRENT), token(0, "a", 7), token(0, "b", 7), all_announced(7)],
        [ShortLifetime("token", "a", True, None), ShortLifetime("token", "b", True, None)],
    ),
    "of a get with the number 0": (
        [interest(CURRENT, 0), token(0, "a", 0), all_announced(0)],
        [ShortLifetime("token", "a", True, None)],
    ),
    "of a watcher, ended by number": (
        [interest(BOTH), token(0, "a", 7), all_announced(7), no_token(0)],
        [ShortLifetime("token", "a", False, "undeclare")],
    ),
    "of a watcher, ended by key": (
        [interest(BOTH), token(0, "a", 7), token(0, "b", 7), all_announced(7), end_by_key("b")],
        [
            ShortLifetime("token", "b", False, "undeclare"),
            ShortLifetime("token", "a", False, "session"),
        ],
    ),
    "of a watcher that also gets": (
        [
            interest(BOTH),
            token(0, "a", 7),
            interest(CURRENT, 8),
            token(0, "b", 8),
            token(0, "a", 8),
            no_token(0),
        ],
        [
            ShortLifetime("token", "b", True, None),
            ShortLifetime("token", "a", True, None),
            ShortLifetime("token", "a", False, "undeclare"),
        ],
    ),
    "the number of an interest is used again": (
        [interest(CURRENT), token(0, "a", 7), interest(BOTH), token(0, "a", 7), no_token(0)],
        [ShortLifetime("token", "a", True, None), ShortLifetime("token", "a", False, "undeclare")],
    ),
    "after the interest ended": (
        [interest(BOTH), Interest(InterestMode.FINAL, 7), token(0, "a", 7), no_token(0)],
        [ShortLifetime("token", "a", False, "undeclare")],
    ),
    "other entities": (
        [interest(CURRENT), subscriber(7), queryable(7)],
        [ShortLifetime("subscriber", "a", True, None), ShortLifetime("queryable", "a", True, None)],
    ),
    "other entities that live": (
        [interest(BOTH), subscriber(7), queryable(7), Declare(UndeclareSubscriber(0))],
        [
            ShortLifetime("subscriber", "a", False, "undeclare"),
            ShortLifetime("queryable", "a", False, "session"),
        ],
    ),
    "an interest that was not seen": (
        [token(0, "a", 9), subscriber(9), token(0, "b", 0)],
        [
            ShortLifetime("token", "a", True, None),
            ShortLifetime("subscriber", "a", False, "session"),
            ShortLifetime("token", "b", False, "session"),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_lifetimes_of_id_0(case: str, tmp_path: Path) -> None:
    messages, expected = CASES[case]
    path = tmp_path / "talk.pcapng"
    talk(path, *messages)
    assert lifetimes(path) == expected


def test_oldest_interest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zenlake.trace.interest_answers.INTERESTS_PER_SESSION_MAX", 2)
    interests: dict[int, bool] = {}
    for number in (1, 2, 1, 3):
        remember_mode(interests, number, True)
    assert list(interests) == [2, 3]


def test_tokens_of_a_router_that_counts_from_0() -> None:
    """Each subscriber receives each end that its application saw."""
    truth = truth_of("old_tokens")
    for name, zid in truth["watchers"].items():
        received = [
            life
            for life in declarations(trace.open(path_of("old_tokens")))
            if life.entity == "token" and life.receiver_zid == zid
        ]
        ended = [(life.ended_ns, life.key) for life in received if life.ended_by == "undeclare"]
        seen = [key for kind, key in truth["seen"][name] if kind == "DELETE"]
        assert [key for _, key in sorted(ended)] == seen
        answers = sorted(str(life.key) for life in received if life.is_answer)
        assert answers == truth["got"][name]["keys"]
        assert not [life for life in received if life.ended_by is None and not life.is_answer]
