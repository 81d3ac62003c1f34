"""Why keys do not match, and which key would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zenlake.keyexpr import canonize, intersects
from zenlake.why.disjoint import difference, nearest


@pytest.mark.parametrize(
    ("declared", "key", "cause", "words", "would_match"),
    [
        ("robot/**", "robot/7/@meta", "at_chunk", "`@meta`", "robot/**/@meta/**"),
        ("robot/*/x", "robot/@7/x", "at_chunk", "`@7`", "robot/@7/x"),
        ("a/@b/c", "a/**", "at_chunk", "`@b`", "a/**/@b/**"),
        ("a/*", "a/b/c", "key_mismatch", "'c' more than", "a/*/**"),
        ("a/b/c", "a/*", "key_mismatch", "'c' more than", None),
        ("a/State", "a/state", "key_mismatch", "upper and lower case", None),
        ("robot/1/status", "robot/1/state", "key_mismatch", "`status`, not `state`", None),
        ("a/**/z", "a/b", "key_mismatch", "no key in common", None),
    ],
)
def test_difference_of_keys_is_explained(
    declared: str, key: str, cause: str, words: str, would_match: str | None
) -> None:
    found = difference(declared, key)
    assert found.cause == cause
    assert words in found.text
    assert (found.would_match or None) == (canonize(would_match) if would_match else None)


def test_nearest_key_is_the_likeliest_mistake() -> None:
    keys = ["robot/2/pose", "camera/front", "robot/1/pose/raw", "robot/1/@pose"]
    found = nearest("robot/1/pose", keys)
    assert found is not None
    assert found.declared == "robot/1/@pose" or found.cause == "key_mismatch"
    assert nearest("gps/fix", keys) is None
    assert nearest("gps/fix", []) is None


CHUNKS = st.sampled_from(["a", "b", "@a", "@b", "*", "**", "ab", "A"])
KEYS = st.lists(CHUNKS, min_size=1, max_size=4).map("/".join).map(canonize)


@given(KEYS, KEYS)
def test_suggested_key_matches(declared: str, key: str) -> None:
    if intersects(declared, key):
        return
    found = difference(declared, key)
    assert found.cause in ("at_chunk", "key_mismatch")
    if found.would_match is not None:
        assert intersects(found.would_match, key) or intersects(found.would_match, declared)
