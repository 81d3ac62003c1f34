"""The children of one tree node by chunks with `$*`."""

from __future__ import annotations

import pytest

from zenlake.keyexpr.pattern_index import INDEXED_MIN, PatternIndex

PATTERNS = ["a$*", "ab$*", "$*b", "a$*b", "a$*x$*b", "$*x$*", "é$*", "a$*y$*b", "xyz$*"]


@pytest.fixture
def index() -> PatternIndex[str]:
    filled: PatternIndex[str] = PatternIndex()
    for pattern in PATTERNS:
        filled.insert(pattern, pattern)
    return filled


def test_patterns_are_found_exactly(index: PatternIndex[str]) -> None:
    assert len(index) == len(PATTERNS)
    assert sorted(index.values()) == sorted(PATTERNS)
    assert index.get("a$*b") == "a$*b"
    assert index.get("a$*z$*b") is None
    assert index.get("b$*b") is None
    assert index.get("abcdef$*") is None


@pytest.mark.parametrize(
    ("chunks", "candidates"),
    [
        (["a"], {"a$*", "$*x$*"}),
        (["ab"], {"a$*", "ab$*", "$*b", "a$*b", "a$*x$*b", "a$*y$*b", "$*x$*"}),
        (["b"], {"$*b", "$*x$*"}),
        (["éa"], {"é$*", "$*x$*"}),
        (["c"], {"$*x$*"}),
        (["b", "xyz", "b"], {"$*b", "$*x$*", "xyz$*"}),
    ],
)
def test_candidates_have_matching_ends(
    index: PatternIndex[str], chunks: list[str], candidates: set[str]
) -> None:
    found = index.candidates(chunks)
    assert set(found) == candidates
    assert len(found) == len(candidates)


def test_a_few_patterns_are_all_candidates() -> None:
    index: PatternIndex[str] = PatternIndex()
    for pattern in PATTERNS[: INDEXED_MIN - 1]:
        index.insert(pattern, pattern)
    assert not index.lengths
    assert index.candidates(["c"]) == PATTERNS[: INDEXED_MIN - 1]


def test_index_is_empty_when_all_patterns_are_removed(index: PatternIndex[str]) -> None:
    assert index.lengths
    for pattern in PATTERNS:
        assert len(index)
        index.remove(pattern)
        assert index.get(pattern) is None
    assert not len(index)
    assert not index.values()
    assert not index.lengths
