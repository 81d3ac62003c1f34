"""Key formats (behaviour reference, 1.7)."""

from __future__ import annotations

import itertools
import time

import pytest

from zenlake.errors import KeyExprError
from zenlake.keyexpr import KeyExpr, KeyFormat
from zenlake.limits import KEY_EXPR_BYTES_MAX

UPSTREAM_FORMATS = [
    "${remaining:**}/@adv/${entity:*}/${zid:*}/${eid:*}/${meta:**}",
    "@/${zid:*}/${whatami:*}/config/${key:**}",
    "@-digest/${zid:*}/${hash:*}",
    "@zid/${zid:*}/${hash:*}/aligner",
]


@pytest.mark.parametrize("text", [*UPSTREAM_FORMATS, "a/b", "${a:*}", "$#{a}b:c}}#/x"])
def test_formats_are_read_and_shown(text: str) -> None:
    assert str(KeyFormat(text)) == text
    assert KeyFormat(text) == KeyFormat(text)
    assert hash(KeyFormat(text)) == hash(KeyFormat(text))


def test_ids_come_from_left_to_right() -> None:
    assert KeyFormat(UPSTREAM_FORMATS[0]).ids == ["remaining", "entity", "zid", "eid", "meta"]
    assert KeyFormat("$#{a}b:c}}#/x").pieces[0].pattern == "c}"
    assert KeyFormat("a/${x:*}") != KeyFormat("a/${y:*}")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("a//${x:*}", 2),
        ("a/${x:*}/", 9),
        ("/${x:*}", 0),
        ("a${x:*}", 0),
        ("${x:*}a", 6),
        ("${x:*}${y:*}", 6),
        ("${x:*", 0),
        ("$#{x:*}", 0),
        ("${x}", 2),
        ("${x:}", 4),
        ("a/${x:b//c}", 8),
        ("${x:**/*}", 7),
        ("${x:*}/${x:*}", 7),
        ("*/${x:*}", 0),
        ("${x:*}/**", 7),
        ("a$*/${x:*}", 0),
        ("a#b", 1),
        ("a?b/${x:*}", 1),
        ("${x:a#b}", 6),
        ("${x:*#a/b}", 6),
        ("${x:*#}", 6),
        ("${x:*#a//b}", 6),
        ("a/\ud800", 2),
        ("a" * (KEY_EXPR_BYTES_MAX + 1), KEY_EXPR_BYTES_MAX),
        ("a/" * 128 + "b", 256),
    ],
)
def test_bad_formats_are_refused_with_their_position(text: str, position: int) -> None:
    with pytest.raises(KeyExprError) as caught:
        KeyFormat(text)
    assert caught.value.position == position
    assert caught.value.text == text


@pytest.mark.parametrize(
    ("text", "values", "built"),
    [
        ("a/${a:*}/b/$#{b:**}#/c", {"a": 1, "b": "hi/there"}, "a/1/b/hi/there/c"),
        ("a/${a:*}/b/$#{b:**}#/c", {"a": 1, "b": ""}, "a/1/b/c"),
        ("${a:**}/x", {"a": ""}, "x"),
        ("x/${a:**}", {"a": ""}, "x"),
        ("${a:**}/${b:**}/${c:**}", {"a": "", "b": "m", "c": ""}, "m"),
        ("${a:**}/${b:**}", {"a": "**", "b": "**"}, "**"),
        ("${a:**}/${b:*}", {"a": "x/**", "b": "*"}, "x/*/**"),
        ("a/${x:*#1}/${y:**#p/q}", {}, "a/1/p/q"),
        ("a/${x:*#1}", {"x": "2"}, "a/2"),
        ("a/${x:**#}", {}, "a"),
        ("$#{x:a$*}}#/b", {"x": "ab}"}, "ab}/b"),
        ("a/${k:b/*}/c", {"k": KeyExpr("b/d")}, "a/b/d/c"),
    ],
)
def test_build_replaces_each_place(text: str, values: dict[str, object], built: str) -> None:
    formatter = KeyFormat(text).formatter()
    for name, value in values.items():
        formatter.set(name, value)
    assert formatter.build() == built


@pytest.mark.parametrize(
    ("pattern", "value"),
    [("*", ""), ("*", "a/b"), ("*", "@a"), ("*", "**"), ("a$*", "b"), ("**", "a//b"), ("**", "@a")],
)
def test_a_value_outside_the_pattern_is_refused_and_the_old_one_lost(
    pattern: str, value: str
) -> None:
    formatter = KeyFormat("x/${v:" + pattern + "}").formatter()
    formatter.set("v", "a")
    assert formatter.get("v") == "a"
    with pytest.raises(KeyExprError, match="PatternNotMatched"):
        formatter.set("v", value)
    assert formatter.get("v") is None
    with pytest.raises(KeyExprError, match="no value for 'v'"):
        formatter.build()


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(KeyExprError, match="InvalidId"):
        KeyFormat("${a:*}").formatter().set("b", "x")


def test_a_formatter_can_be_reused_and_cleared() -> None:
    formatter = KeyFormat("${a:*}/${b:*}").formatter().set("a", "1").set("b", "2")
    assert formatter.build() == "1/2"
    assert formatter.set("b", "3").build() == "1/3"
    with pytest.raises(KeyExprError):
        formatter.clear().build()


def test_build_without_values_is_refused() -> None:
    with pytest.raises(KeyExprError):
        KeyFormat("${a:**}").formatter().set("a", "").build()


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("${a:**}/-/${b:**}", "hey/-/-/there", {"a": "hey/-", "b": "there"}),
        ("${a:**}/${b:**}", "a/b/c", {"a": "a/b/c", "b": ""}),
        ("${a:**}/${b:**}", "**", {"a": "**", "b": "**"}),
        ("${a:**}/${b:**}", "x/**", {"a": "x/**", "b": "**"}),
        ("hi/${a:there}/${b:**}", "hi/**", {"a": "**", "b": "**"}),
        ("hi/${a:there}/@/${b:**}", "hi/**/@", {"a": "**", "b": ""}),
        ("a/${x:*}/b", "a/*/b", {"x": "*"}),
        ("a/${x:*}/b", "**", {"x": "**"}),
        ("a/${x:*}/b", "a/**/b", {"x": "**"}),
        ("${x:a}/${y:b}", "a/**/b", {"x": "a/**", "y": "**/b"}),
        ("${x:a$*}/z", "ab/z", {"x": "ab"}),
        ("${x:*/*}/${y:**}", "1/2/3/4", {"x": "1/2", "y": "3/4"}),
        ("a/b", "a/*", {}),
        (
            UPSTREAM_FORMATS[0],
            "demo/x/@adv/pub/a1/7/_",
            {"remaining": "demo/x", "entity": "pub", "zid": "a1", "eid": "7", "meta": "_"},
        ),
        (
            UPSTREAM_FORMATS[0],
            "demo/**/@adv/**",
            {"remaining": "demo/**", "entity": "**", "zid": "**", "eid": "**", "meta": "**"},
        ),
        (UPSTREAM_FORMATS[1], "@/a1/router/config", {"zid": "a1", "whatami": "router", "key": ""}),
        (UPSTREAM_FORMATS[3], "@zid/1/2/aligner", {"zid": "1", "hash": "2"}),
    ],
)
def test_values_are_parsed_from_a_key(text: str, key: str, values: dict[str, str]) -> None:
    assert KeyFormat(text).parse(key) == values
    assert KeyFormat(text).parse(KeyExpr(key)) == values


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a/b", "a/c"),
        ("a/${x:*}", "a"),
        ("a/${x:*}", "a/@b"),
        ("a/${x:*}/b", "a/x/c"),
        ("a/${x:**}/@m/${y:*}", "a/b/c"),
        (UPSTREAM_FORMATS[2], "@-digest/1"),
        ("a", "a//b"),
    ],
)
def test_a_key_outside_the_format_is_refused(text: str, key: str) -> None:
    with pytest.raises(KeyExprError):
        KeyFormat(text).parse(key)


def test_built_key_is_parsed_to_its_values() -> None:
    specs = itertools.product(["${a:*}", "a/${a:*}"], ["b/${b:**}", "${b:**}"], ["", "/c"])
    for first, second, suffix in specs:
        key_format = KeyFormat(f"{first}/{second}{suffix}")
        for value in ("hello", "hello/there", ""):
            built = key_format.formatter().set("a", "hi").set("b", value).build()
            assert key_format.parse(built) == {"a": "hi", "b": value}


def test_ambiguous_format_is_parsed_fast() -> None:
    places = "/".join(f"${{p{number}:**}}/a" for number in range(60))
    start = time.thread_time()
    with pytest.raises(KeyExprError):
        KeyFormat(places + "/b").parse("/".join(["a"] * 128))
    assert KeyFormat(places).parse("/".join(["a"] * 128))["p0"] == "/".join(["a"] * 68)
    assert time.thread_time() - start < 2
