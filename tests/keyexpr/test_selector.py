"""Selectors (behaviour reference, 1.5)."""

from __future__ import annotations

import pytest

from zenlake.errors import KeyExprError
from zenlake.keyexpr import KeyExpr, Parameters, Selector


@pytest.mark.parametrize(
    ("text", "key_expr", "parameters", "rendered"),
    [
        ("a", "a", "", "a"),
        ("a/**?b=1", "a/**", "b=1", "a/**?b=1"),
        ("a?", "a", "", "a"),
        ("a?b=;", "a", "b", "a?b"),
        ("a?b=1?c", "a", "b=1?c", "a?b=1?c"),
        ("a??", "a", "?", "a??"),
        ("a?_time=[now(-1h)..]", "a", "_time=[now(-1h)..]", "a?_time=[now(-1h)..]"),
    ],
)
def test_the_text_is_split_at_the_first_question_mark(
    text: str, key_expr: str, parameters: str, rendered: str
) -> None:
    selector = Selector(text)
    assert selector.key_expr == key_expr
    assert str(selector.parameters) == parameters
    assert str(selector) == rendered
    assert repr(selector) == f'sel"{rendered}"'


@pytest.mark.parametrize("parameters", ["b=1", {"b": "1"}, Parameters("b=1")])
@pytest.mark.parametrize("key_expr", ["a", KeyExpr("a")])
def test_parts_can_be_separate_arguments(
    key_expr: str | KeyExpr, parameters: str | dict[str, str] | Parameters
) -> None:
    assert str(Selector(key_expr, parameters)) == "a?b=1"
    assert str(Selector(key_expr, parameters=parameters)) == "a?b=1"


def test_a_key_expression_alone_has_no_parameters() -> None:
    assert str(Selector(KeyExpr("a"))) == "a"


@pytest.mark.parametrize("text", ["", "?a", "a//b?c", "#"])
def test_the_key_expression_must_be_one(text: str) -> None:
    with pytest.raises(KeyExprError):
        Selector(text)


def test_a_question_mark_beside_given_parameters_is_an_error() -> None:
    with pytest.raises(KeyExprError):
        Selector("a?x=2", "b=1")


def test_other_types_are_type_errors() -> None:
    with pytest.raises(TypeError):
        Selector(3)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError):
        Selector("a", 3)  # type: ignore[arg-type]  # wrong on purpose


def test_parts_can_be_assigned() -> None:
    selector = Selector("a?b=1")
    selector.key_expr = KeyExpr("c/d")
    selector.parameters = Parameters("x=2")
    assert str(selector) == "c/d?x=2"


def test_parameters_are_copied_in_and_out() -> None:
    given = Parameters("b=1")
    selector = Selector("a", given)
    given.insert("c", "2")
    selector.parameters.insert("d", "3")
    assert str(selector) == "a?b=1"


def test_selectors_are_equal_if_key_and_parameters_are() -> None:
    assert Selector("a?b") == Selector("a", "b;")
    assert Selector("a?b") != Selector("a?c")
    assert Selector("a?b") != Selector("b?b")
    assert Selector("a?b") != "a?b"
