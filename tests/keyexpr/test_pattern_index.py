"""The `$*` chunks of one node."""

from __future__ import annotations

import pytest

from zenlake.keyexpr.pattern_index import PatternIndex

PATTERNS = ["a$*", "ab$*", "$*b", "a$*b", "a$*x$*b", "$*x$*", "é$*"]


@pytest.fixture
def index() -> PatternIndex[str]:
    filled: PatternIndex[str] = PatternIndex()
    for pattern in PATTERNS:
        filled.insert(pattern, pattern)
    return filled


def test_patterns_are_found_exactly(index: PatternIndex[str]) -> None:
    assert sorted(index.values()) == sorted(PATTERNS)
    assert index.get("a$*b") == "a$*b"
    assert index.get("a$*y$*b") is None
    assert index.get("b$*b") is None
    assert index.get("abcdef$*") is None


@pytest.mark.parametrize(
    ("chunk", "matches"),
    [
        ("a", {"a$*"}),
        ("ab", {"a$*", "ab$*", "$*b", "a$*b"}),
        ("axb", {"a$*", "$*b", "a$*b", "a$*x$*b", "$*x$*"}),
        ("b", {"$*b"}),
        ("éa", {"é$*"}),
        ("c", set()),
    ],
)
def test_matching(index: PatternIndex[str], chunk: str, matches: set[str]) -> None:
    assert set(index.matching(chunk)) == matches


def test_intersecting(index: PatternIndex[str]) -> None:
    assert set(index.intersecting("$*c")) == {"a$*", "ab$*", "$*x$*", "é$*"}


def test_nothing_is_left_when_all_is_removed(index: PatternIndex[str]) -> None:
    for pattern in PATTERNS:
        assert index
        index.remove(pattern)
        assert index.get(pattern) is None
    assert not index
    assert not index.values()
