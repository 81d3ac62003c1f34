"""Validity and canonical form (behaviour reference, 1.1 and 1.2)."""

from __future__ import annotations

import contextlib
import time

import pytest

from zenlake.errors import KeyExprError, LocalError, ZError
from zenlake.keyexpr.canonical import canonize, validate
from zenlake.limits import KEY_EXPR_BYTES_MAX, KEY_EXPR_CHUNKS_MAX

VALID = [
    "a",
    "a/b/c",
    "*",
    "**",
    "*/**",
    "*/*",
    "**/a/**",
    "a/*/b",
    "a$*",
    "$*a",
    "a$*b$*c",
    "$*y/x",
    "@",
    "@a",
    "@a$*",
    "@$*",
    "@a$*b$*",
    "a@b",
    "$*@a",
    "a b",
    "a\tb",
    "a\0b",
    "a;b=c&d%e|f",
    "é/日本/🤖",
    "é$*é",
    " ",
    "{}",
    "A",
]

INVALID = [
    # Text, position of the error, part of the cause.
    ("", 0, "empty"),
    ("/", 0, "empty"),
    ("/a", 0, "empty"),
    ("a/", 2, "empty"),
    ("a//b", 2, "empty"),
    ("é//b", 2, "empty"),
    ("a/b/c/", 6, "empty"),
    ("#", 0, "forbidden"),
    ("a/b#c", 3, "forbidden"),
    ("a?b", 1, "forbidden"),
    ("é/日?", 3, "forbidden"),
    ("@a/#", 3, "forbidden"),
    ("$", 0, "followed"),
    ("a/b$", 3, "followed"),
    ("a$b", 1, "followed"),
    ("$/a", 0, "followed"),
    ("a$$*", 1, "followed"),
    ("$*$", 2, "followed"),
    ("*a", 0, "whole chunk"),
    ("x/*a", 2, "whole chunk"),
    ("**a", 0, "whole chunk"),
    ("a*", 1, "whole chunk"),
    ("a/b**", 3, "whole chunk"),
    ("***", 0, "whole chunk"),
    ("*$*", 0, "whole chunk"),
    ("a$**", 3, "whole chunk"),
    ("@*", 1, "whole chunk"),
    ("@a*", 2, "whole chunk"),
    ("$*", 0, "lone"),
    ("a/$*/b", 2, "lone"),
    ("a$*$*", 3, "$*$*"),
    ("$*$*", 2, "$*$*"),
    ("@a$*$*", 4, "$*$*"),
    ("**/**", 3, "`**`"),
    ("**/*", 3, "`*/**`"),
    ("a/*/**/*", 7, "`*/**`"),
    ("a/\ud800", 2, "UTF-8"),
    ("\udfff", 0, "UTF-8"),
    ("x" * 100_000, KEY_EXPR_BYTES_MAX, "bytes"),
]

CANONICAL_FORMS = [
    ("a/b", "a/b"),
    ("$*", "*"),
    ("a/$*$*/b", "a/*/b"),
    ("a$*$*", "a$*"),
    ("a$*$*$*", "a$*"),
    ("a$*$*b$*$*$*c", "a$*b$*c"),
    ("@a$*$*b", "@a$*b"),
    ("**/**", "**"),
    ("**/*", "*/**"),
    ("**/*/**", "*/**"),
    ("*/**/*", "*/*/**"),
    ("**/$*/*/**/a/**/**", "*/*/**/a/**"),
    ("a/**/**/@b/**/*", "a/**/@b/*/**"),
    ("/".join(["**"] * 1_000), "**"),
]


@pytest.mark.parametrize("text", VALID)
def test_valid_texts_are_their_own_canonical_form(text: str) -> None:
    validate(text)
    assert canonize(text) == text


@pytest.mark.parametrize(("text", "position", "cause"), INVALID)
def test_invalid_texts_are_refused_with_their_position(
    text: str, position: int, cause: str
) -> None:
    with pytest.raises(KeyExprError) as caught:
        validate(text)
    assert caught.value.position == position
    assert cause in caught.value.cause
    assert caught.value.text == text


def test_the_error_is_a_local_one_and_shows_position_and_cause() -> None:
    with pytest.raises(ZError, match=r"'a//b': a chunk is empty \(at character 2\)") as caught:
        validate("a//b")
    assert isinstance(caught.value, LocalError)


@pytest.mark.parametrize(("text", "canonical"), CANONICAL_FORMS)
def test_canonize_returns_the_canonical_form(text: str, canonical: str) -> None:
    assert canonize(text) == canonical


@pytest.mark.parametrize(
    "text",
    ["", "/a", "a//b", "a/", "/**", "**/", "**/**/#", "a?b", "**/***", "**/*a/**", "*$*", "a$b"],
)
def test_canonizing_repairs_neither_slashes_nor_illegal_characters(text: str) -> None:
    with pytest.raises(KeyExprError):
        canonize(text)


def test_the_limit_counts_bytes_of_utf_8() -> None:
    validate("é" * (KEY_EXPR_BYTES_MAX // 2))
    with pytest.raises(KeyExprError) as caught:
        validate("a" + "é" * (KEY_EXPR_BYTES_MAX // 2))
    # The last é starts within the limit but does not end there.
    assert caught.value.position == KEY_EXPR_BYTES_MAX // 2
    assert str(KEY_EXPR_BYTES_MAX) in caught.value.cause


def test_the_limit_of_chunks_points_at_the_first_chunk_too_many() -> None:
    validate("/".join(["ab"] * KEY_EXPR_CHUNKS_MAX))
    with pytest.raises(KeyExprError) as caught:
        validate("/".join(["ab"] * (KEY_EXPR_CHUNKS_MAX + 1)))
    assert caught.value.position == 3 * KEY_EXPR_CHUNKS_MAX
    assert str(KEY_EXPR_CHUNKS_MAX) in caught.value.cause


@pytest.mark.parametrize("unit", ["$*", "**/", "*/", "$", "/", "a$*$*"])
def test_canonizing_a_huge_text_takes_linear_time(unit: str) -> None:
    start = time.thread_time()
    for _ in range(3):
        with contextlib.suppress(KeyExprError):
            canonize("x" + unit * 100_000)
    assert time.thread_time() - start < 5
