"""KeyExpr: construction, comparison, join and concat (behaviour reference, 1.4)."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from zenlake.errors import KeyExprError
from zenlake.keyexpr import KeyExpr, SetIntersectionLevel


def test_key_expr_is_made_from_a_text_or_a_key_expr() -> None:
    assert str(KeyExpr("a/**")) == "a/**"
    assert KeyExpr(KeyExpr("a/**")) == KeyExpr("a/**")


@pytest.mark.parametrize("text", ["", "a//b", "a/**/**", "$*", "a?b"])
def test_the_constructor_is_strict(text: str) -> None:
    with pytest.raises(KeyExprError):
        KeyExpr(text)


@pytest.mark.parametrize(
    "use",
    [
        lambda: KeyExpr(3),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr(b"a"),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr(None),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr.autocanonize(3),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr("a").intersects(3),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr("a").includes(None),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr("a").join(3),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr("a").concat(3),  # type: ignore[arg-type]  # wrong on purpose
        lambda: KeyExpr("a") / 3,  # type: ignore[operator]  # wrong on purpose
        lambda: "a" / KeyExpr("b"),  # type: ignore[operator]  # wrong on purpose
        lambda: KeyExpr("a") < KeyExpr("b"),  # type: ignore[operator]  # wrong on purpose
    ],
)
def test_other_types_are_type_errors(use: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        use()


def test_key_expr_equals_and_hashes_like_its_text() -> None:
    assert KeyExpr("a") == "a"
    assert "a" in [KeyExpr("a")]
    assert KeyExpr("a") != "b"
    assert KeyExpr("a") != KeyExpr("b")
    assert KeyExpr("a") != "a//"
    assert KeyExpr("a") != 3
    assert hash(KeyExpr("a")) == hash("a")
    assert {KeyExpr("a"): 1}["a"] == 1  # type: ignore[index]  # equal to its text


def test_key_expr_prints_as_in_eclipse_zenoh() -> None:
    assert repr(KeyExpr("a/*")) == "ke`a/*`"


def test_key_expr_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(KeyExpr("a/**"))) == KeyExpr("a/**")


def test_autocanonize_accepts_other_spellings() -> None:
    assert KeyExpr.autocanonize("**/*/$*") == "*/*/**"
    assert KeyExpr.autocanonize("a$*$*") == "a$*"
    assert KeyExpr.autocanonize(KeyExpr("a")) == "a"
    with pytest.raises(KeyExprError):
        KeyExpr.autocanonize("a//**/**")


def test_relations_take_texts_and_key_expressions() -> None:
    wild = KeyExpr("a/*")
    assert wild.intersects("a/b")
    assert wild.intersects(KeyExpr("a/b"))
    assert wild.includes("a/b")
    assert not wild.includes("a/**")
    assert wild.relation_to("a/b") is SetIntersectionLevel.INCLUDES
    assert KeyExpr("a/b").relation_to(wild) is SetIntersectionLevel.INTERSECTS
    with pytest.raises(KeyExprError):
        wild.intersects("a//b")


def test_levels_are_ordered() -> None:
    level = SetIntersectionLevel
    assert level.DISJOINT < level.INTERSECTS < level.INCLUDES < level.EQUALS
    assert KeyExpr("**").relation_to("a") >= level.INTERSECTS
    assert [int(each) for each in level] == [0, 1, 2, 3]
    assert repr(level.EQUALS) == str(level.EQUALS) == "SetIntersectionLevel.EQUALS"


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        ("a", "b", "a/b"),
        ("a/**", "*", "a/*/**"),
        ("a/**", "**", "a/**"),
        ("a/**", "**/*", "a/*/**"),
        ("a", "b$*$*", "a/b$*"),
        ("@a", "**", "@a/**"),
    ],
)
def test_join_inserts_a_slash_and_canonizes(left: str, right: str, joined: str) -> None:
    assert KeyExpr(left).join(right) == joined
    assert KeyExpr(left) / right == joined
    assert str(KeyExpr(left) / KeyExpr.autocanonize(right)) == joined


@pytest.mark.parametrize("right", ["", "/c", "c/", "#"])
def test_join_refuses_invalid_key_expressions(right: str) -> None:
    with pytest.raises(KeyExprError):
        KeyExpr("a").join(right)


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [("a", "b", "ab"), ("a", "", "a"), ("a/*", "/**", "a/*/**"), ("a", "$*", "a$*")],
)
def test_concat_rewrites_nothing(left: str, right: str, text: str) -> None:
    assert KeyExpr(left).concat(right) == text


@pytest.mark.parametrize(
    ("left", "right"),
    [("a", "/"), ("a/*", "*"), ("a$*", "*"), ("a$*", "$*"), ("a/**", "/*"), ("a/**", "/**")],
)
def test_concat_neither_canonizes_nor_merges_wildcards(left: str, right: str) -> None:
    with pytest.raises(KeyExprError):
        KeyExpr(left).concat(right)


def test_is_wild() -> None:
    assert KeyExpr("a/*").is_wild
    assert KeyExpr("a$*").is_wild
    assert not KeyExpr("a/@b").is_wild


def test_prefixes_are_key_expressions() -> None:
    assert KeyExpr("a/b/*").nonwild_prefix() == "a/b"
    assert KeyExpr("*/b").nonwild_prefix() is None
    assert KeyExpr("a/b/c").strip_prefix("a/b") == ["c"]
    assert KeyExpr("a/**").strip_nonwild_prefix("a/b") == "**"
    assert KeyExpr("a/b").strip_nonwild_prefix("c") is None
    with pytest.raises(KeyExprError, match="no wildcards"):
        KeyExpr("a/b").strip_nonwild_prefix("*")
