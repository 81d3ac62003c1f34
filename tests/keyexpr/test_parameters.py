"""Parameters (behaviour reference, 1.5); expectations were checked on eclipse-zenoh."""

from __future__ import annotations

import pytest

from zenlake.keyexpr import Parameters


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (None, ""),
        ("", ""),
        ("a=1;b=2", "a=1;b=2"),
        ("a=1;b=2;|=", "a=1;b=2"),
        ("=;|", ""),
        ("a=", "a"),
        ("a", "a"),
        (";;a=1;;b=2", ";;a=1;;b=2"),
        (" a = 1 ", " a = 1 "),
        ("a%20b=%3B", "a%20b=%3B"),
        ("a&b=c&d", "a&b=c&d"),
        ({}, ""),
        ({"a": "1", "b": "2"}, "a=1;b=2"),
        ({"a": "", "b": "2"}, "a;b=2"),
        ({"": "1", "b": "2"}, "b=2"),
        ({"a": "1;c=3", "b": "2|"}, "a=1;c=3;b=2|"),
        (Parameters("a=1"), "a=1"),
    ],
)
def test_the_text_is_kept_but_for_trailing_separators(
    given: str | dict[str, str] | Parameters | None, text: str
) -> None:
    assert str(Parameters(given)) == text
    assert repr(Parameters(given)) == text


@pytest.mark.parametrize("given", [3, b"a=1", [("a", "1")]])
def test_other_types_are_type_errors(given: object) -> None:
    with pytest.raises(TypeError):
        Parameters(given)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError):
        Parameters("a").extend(given)  # type: ignore[arg-type]  # wrong on purpose


def test_parameters_without_items_are_empty() -> None:
    assert Parameters().is_empty()
    assert Parameters(";").is_empty()
    assert not Parameters(";;=3").is_empty()
    assert not Parameters("")
    assert Parameters("a")


def test_get_returns_the_first_value_or_the_default() -> None:
    assert Parameters("a=1;a=2").get("a") == "1"
    assert Parameters("a=1").get("b") is None
    assert Parameters("a=1").get("b", "x") == "x"
    assert Parameters("a").get("a", "x") == ""
    assert Parameters("a=1=2").get("a") == "1=2"
    assert Parameters("=3").get("") == "3"


def test_items_by_index_and_membership() -> None:
    assert Parameters("a=1")["a"] == "1"
    assert Parameters("a=1")["b"] is None
    assert "a" in Parameters("a=1")
    assert "b" not in Parameters("a=1")
    assert "" not in Parameters("a=1")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1|2;a=3", ["1", "2"]),
        ("b=1", []),
        ("a=1||2;b", ["1", "", "2"]),
        ("a;b", [""]),
        ("a=|;b", ["", ""]),
    ],
)
def test_values_are_split_at_the_bar(text: str, values: list[str]) -> None:
    assert Parameters(text).values("a") == values


def test_iteration_skips_empty_items_and_keeps_duplicates() -> None:
    pairs = [("a", "1"), ("b", ""), ("", "4"), ("a", "2")]
    assert list(Parameters("a=1;b;=4;;a=2")) == pairs


@pytest.mark.parametrize(
    ("text", "key", "value", "returned", "after"),
    [
        ("a=1;b=2;a=3", "a", "9", "1", "b=2;a=9"),
        ("a=1;b=;=3;c", "d", "", None, "a=1;b;c;d"),
        ("a=1", "", "x", None, "a=1"),
        ("a=1", "b", "x;y=3", None, "a=1;b=x;y=3"),
        ("a=1", "b=c", "x", None, "a=1;b=c=x"),
        ("a=1", "b", "3;;|", None, "a=1;b=3;;|"),
    ],
)
def test_insert_replaces_and_returns_the_old_value(
    text: str, key: str, value: str, returned: str | None, after: str
) -> None:
    parameters = Parameters(text)
    assert parameters.insert(key, value) == returned
    assert str(parameters) == after


@pytest.mark.parametrize(
    ("text", "key", "returned", "after"),
    [
        ("a=1;b=2;a=3", "a", "1", "b=2"),
        ("a=1;b=;=3;c", "c", "", "a=1;b"),
        ("a=1;b=;=3;c", "zz", None, "a=1;b;c"),
        ("a=1;b=;;c=1|;d", "zz", None, "a=1;b;c=1|;d"),
    ],
)
def test_remove_returns_the_old_value(
    text: str, key: str, returned: str | None, after: str
) -> None:
    parameters = Parameters(text)
    assert parameters.remove(key) == returned
    assert str(parameters) == after


@pytest.mark.parametrize(
    ("other", "after"),
    [
        ("b=3;c=4", "a=1;b=3;c=4"),
        ({"b": "3", "d": "5"}, "a=1;b=3;d=5"),
        (Parameters("z;a"), "b=2;z;a"),
        ("a=1;a=2", "b=2;a=1;a=2"),
        ("", "a=1;b=2"),
    ],
)
def test_extend_replaces_parameters_of_the_same_name(
    other: str | dict[str, str] | Parameters, after: str
) -> None:
    parameters = Parameters("a=1;;b=2")
    parameters.extend(other)
    assert str(parameters) == after


@pytest.mark.parametrize(
    ("text", "ordered"),
    [("a=1;b=2", True), ("b;a", False), ("a;a", True), ("", True), ("B;a;é;日;🤖", True)],
)
def test_is_ordered_by_the_bytes_of_names(text: str, ordered: bool) -> None:
    assert Parameters(text).is_ordered() is ordered


def test_equal_texts_are_equal() -> None:
    assert Parameters("a=1;") == Parameters("a=1")
    assert Parameters("a=1;b=2") != Parameters("b=2;a=1")
    assert Parameters("a=1") != "a=1"
