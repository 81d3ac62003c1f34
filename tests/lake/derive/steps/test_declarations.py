"""Lifetimes of entities, from hand-made events."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lake.derive.steps.cases import MS, Row, Staged, by_case, columns, frame, staged
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import declarations

pytestmark = pytest.mark.xdist_group("declarations")


def declare(seq: int, id: int = 1, key: str | None = "k", **more: Any) -> Row:
    key_identity = f"0 {key}"
    return {
        "seq": seq,
        "is_end": False,
        "entity_id": id,
        "key": key,
        "identity": str(id) if id else key_identity,
        "key_identity": key_identity,
        **more,
    }


def undeclare(seq: int, id: int = 1, key: str | None = None, **more: Any) -> Row:
    return declare(seq, id, key, is_end=True, **more)


CASES: dict[str, list[Row]] = {
    "whole": [declare(1), undeclare(5)],
    "alive": [declare(1)],
    "session": [declare(1), declare(2, 2), undeclare(5)],
    "declared again": [
        declare(1, complete=False, distance=0, interest_id=7),
        declare(2, complete=True, distance=3, interest_id=8),
        declare(3, 2, "other"),
    ],
    "twice": [declare(1), undeclare(2), declare(3), undeclare(4)],
    "another key": [declare(1, key="a"), declare(2, key="b"), declare(3, key="b")],
    "unknown key": [declare(1, key=None), declare(2, key="b"), declare(3, key=None)],
    "key of an earlier lifetime": [
        declare(1, key="a"), undeclare(2, key="a"), declare(3, key=None), declare(4, key="b"),
    ],
    "only its end": [undeclare(3, 4, "k"), undeclare(4, 5)],
    "by key": [declare(1, 0), undeclare(2, 9, "k"), declare(3, 9), undeclare(4, 9, "k")],
    "by number first": [declare(1, 0), declare(2, 9), undeclare(3, 9, "k")],
    "without numbers": [declare(1, 0, "a"), declare(2, 0, "b"), undeclare(3, 0, "a")],
    "owners": [declare(1), declare(2, owner="1"), undeclare(3, owner="1")],
    "kinds": [declare(1), declare(2, entity="token"), undeclare(3, entity="token")],
    "answers": [
        declare(1, 0, is_answer=True, entity="token"),
        declare(2, 0, is_answer=True, entity="token"),
        declare(3, 0, entity="token"),
    ],
}  # fmt: skip
CLOSED = {"session": 9, "another key": 9, "whole": 9, "answers": 9}


def staged_cases() -> Staged:
    defaults = {"owner": "0", "is_answer": False, "entity": "subscriber"}
    sessions = [
        {"capture": case, "session": "s", "closed_ns": seq * MS} for case, seq in CLOSED.items()
    ]
    return {"declare_events": staged(CASES, **defaults), "sessions": sessions}


@pytest.fixture(scope="module")
def lifetimes(engine: Engine) -> dict[str, list[Row]]:
    frames = [frame(engine, name, rows) for name, rows in staged_cases().items()]
    return by_case(declarations.build(*frames))


def at(seq: int | None) -> int | None:
    return None if seq is None else seq * MS


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        # Key, time of declaration, time of the end, cause of the end, number of declarations.
        ("whole", [("k", 1, 5, "undeclare", 1)]),
        ("alive", [("k", 1, None, None, 1)]),
        ("session", [("k", 1, 5, "undeclare", 1), ("k", 2, 9, "session", 1)]),
        ("declared again", [("k", 1, None, None, 2), ("other", 3, None, None, 1)]),
        ("twice", [("k", 1, 2, "undeclare", 1), ("k", 3, 4, "undeclare", 1)]),
        ("another key", [("a", 1, None, None, 1), ("b", 2, 9, "session", 2)]),
        ("unknown key", [("b", 1, None, None, 3)]),
        ("key of an earlier lifetime", [("a", 1, 2, "undeclare", 1), ("b", 3, None, None, 2)]),
        ("only its end", [("k", None, 3, "undeclare", 0), (None, None, 4, "undeclare", 0)]),
        ("by key", [("k", 1, 2, "undeclare", 1), ("k", 3, 4, "undeclare", 1)]),
        ("by number first", [("k", 1, None, None, 1), ("k", 2, 3, "undeclare", 1)]),
        ("without numbers", [("a", 1, 3, "undeclare", 1), ("b", 2, None, None, 1)]),
        ("owners", [("k", 1, None, None, 1), ("k", 2, 3, "undeclare", 1)]),
        ("kinds", [("k", 1, None, None, 1), ("k", 2, 3, "undeclare", 1)]),
        ("answers", [("k", 1, None, None, 1), ("k", 2, None, None, 1), ("k", 3, 9, "session", 1)]),
    ],
)
def test_lifetimes_of_declarations(
    lifetimes: dict[str, list[Row]],
    case: str,
    expected: list[tuple[str | None, int | None, int | None, str | None, int]],
) -> None:
    names = ("key", "declared_ns", "undeclared_ns", "ended_by", "told")
    assert columns(lifetimes[case], *names) == [
        (key, at(start), at(end), ended_by, count) for key, start, end, ended_by, count in expected
    ]


def test_lifetime_has_its_first_place_and_its_latest_details(
    lifetimes: dict[str, list[Row]],
) -> None:
    names = ("packet", "seq", "interest_id", "complete", "distance", "entity_id")
    assert columns(lifetimes["declared again"], *names)[0] == (1, 1, 7, True, 3, 1)
    assert columns(lifetimes["only its end"], *names)[0] == (3, 3, None, None, None, 4)
