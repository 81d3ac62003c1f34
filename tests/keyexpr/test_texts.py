"""Texts of peers, which may be invalid key expressions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zenlake.errors import ZenlakeError
from zenlake.keyexpr import canonize, intersects
from zenlake.keyexpr.texts import texts_intersect

TEXTS = st.text(alphabet="ab/*$@#?", max_size=12)


def is_expression(text: str) -> bool:
    try:
        canonize(text)
    except ZenlakeError:
        return False
    return True


@given(TEXTS, TEXTS)
def test_any_texts_can_be_compared(a: str, b: str) -> None:
    answer = texts_intersect(a, b)
    assert answer == texts_intersect(b, a)
    if is_expression(a) and is_expression(b):
        assert answer == intersects(canonize(a), canonize(b))
    elif answer is not None:
        assert answer == (a == b)


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [
        ("a/*", "a/", None),
        ("a/**/**", "a", True),
        ("a$b/*", "c$d/*", None),
        ("a/", "a/", True),
        ("a/", "a", False),
    ],
)
def test_texts_that_are_not_canonical(a: str, b: str, answer: bool | None) -> None:
    assert texts_intersect(a, b) is answer
