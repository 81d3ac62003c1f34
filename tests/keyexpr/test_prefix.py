"""Prefixes (behaviour reference, 1.4)."""

from __future__ import annotations

import time

import pytest

from zenlake.keyexpr.prefix import nonwild_prefix, strip_nonwild_prefix, strip_prefix


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("a/b/c", "a/b/c"),
        ("a/b/*", "a/b"),
        ("a/b$*/c", "a"),
        ("a/**/c", "a"),
        ("*", None),
        ("**/a", None),
        ("a$*/b", None),
        ("@a$*/b", None),
        ("@a/b/**", "@a/b"),
    ],
)
def test_nonwild_prefix_ends_before_the_first_wildcard(text: str, prefix: str | None) -> None:
    assert nonwild_prefix(text) == prefix


@pytest.mark.parametrize(
    ("text", "remainders"),
    [
        ("demo/example/test/abc", ["abc"]),
        ("demo/example/test/**", ["**"]),
        ("demo/example/**", ["**"]),
        ("**", ["**"]),
        ("demo/example/test/**/x$*/**", ["**/x$*/**"]),
        ("demo/**/xyz", ["**/xyz"]),
        ("demo/**/test/**", ["**"]),
        ("demo/**/ex$*/*/xyz", ["xyz", "**/ex$*/*/xyz"]),
        ("demo/**/ex$*/t$*/xyz", ["xyz", "**/ex$*/t$*/xyz"]),
        ("demo/**/te$*/*/xyz", ["*/xyz", "**/te$*/*/xyz"]),
        ("demo/**/test/*", ["*", "**/test/*"]),
        ("demo/example/test", []),
        ("demo/example", []),
        ("not/a/prefix/**", []),
        ("@demo/**", []),
    ],
)
def test_strip_prefix_returns_all_remainders(text: str, remainders: list[str]) -> None:
    assert strip_prefix(text, "demo/example/test") == remainders


def test_the_stripped_prefix_may_have_wildcards() -> None:
    assert strip_prefix("a/b/c/d", "a/*") == ["c/d"]
    assert strip_prefix("a/b/c", "**") == ["c", "b/c"]
    assert strip_prefix("a/@b/c", "a/**") == ["@b/c"]


@pytest.mark.parametrize(
    ("text", "prefix", "remainder"),
    [
        ("demo/example/test/**", "demo/example/test", "**"),
        ("demo/example/**", "demo/example/test", "**"),
        ("**", "demo/example/test", "**"),
        ("*/example/test/1", "demo/example/test", "1"),
        ("demo/*/test/1", "demo/example/test", "1"),
        ("*/*/test/1", "demo/example/test", "1"),
        ("*/*/*/1", "demo/example/test", "1"),
        ("*/test/1", "demo/example/test", None),
        ("*/*/1", "demo/example/test", None),
        ("*/*/**", "demo/example/test", "**"),
        ("demo/example/test/**/x$*/**", "demo/example/test", "**/x$*/**"),
        ("demo/**/xyz", "demo/example/test", "**/xyz"),
        ("demo/**/test/**", "demo/example/test", "**/test/**"),
        ("demo/**/ex$*/*/xyz", "demo/example/test", "**/ex$*/*/xyz"),
        ("demo/**/te$*/*/xyz", "demo/example/test", "**/te$*/*/xyz"),
        ("demo/example/test", "demo/example/test", None),
        ("demo/example/test1/something", "demo/example/test", None),
        ("demo/example/test$*/something", "demo/example/test", "something"),
        ("*/example/test/something", "@demo/example/test", None),
        ("**/test/something", "@demo/example/test", None),
        ("**/test/something", "demo/example/@test", None),
        ("@demo/*/test/something", "@demo/example/test", "something"),
        ("@demo/*/test/something", "@demo/@example/test", None),
        ("**/@demo/test/something", "@demo/test", "something"),
        ("**/@test/something", "demo/@test", "something"),
        ("@demo/**/@test/something", "@demo/example/@test", "something"),
    ],
)
def test_strip_nonwild_prefix_returns_the_longest_remainder(
    text: str, prefix: str, remainder: str | None
) -> None:
    assert strip_nonwild_prefix(text, prefix) == remainder


def test_stripping_many_double_wildcards_stays_cheap() -> None:
    text = "/".join(["**", "a$*a$*"] * 60)
    start = time.thread_time()
    assert strip_prefix(text, "/".join(["aa"] * 120))
    assert strip_prefix(text, "/".join(["**", "$*a"] * 60))
    assert time.thread_time() - start < 2
