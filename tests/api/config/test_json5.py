"""JSON5: what the specification's examples mean, bounds, and errors with their place."""

from __future__ import annotations

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zenlake.api.config.json5 import Json5Error, parse_json5
from zenlake.limits import CONFIG_CHARACTERS_MAX, CONFIG_DEPTH_MAX

EXAMPLE = r"""
{
  // comments
  unquoted: 'and you can quote me on that',
  singleQuotes: 'I can use "double quotes" here',
  lineBreaks: "Look, Mom! \
No \\n's!",
  hexadecimal: 0xdecaf,
  leadingDecimalPoint: .8675309, andTrailing: 8675309.,
  positiveSign: +1,
  trailingComma: 'in objects', andIn: ['arrays',],
  "backwardsCompatible": "with JSON", /* and
  blocks */ $é_1: null,
}
"""


def test_the_example_of_the_specification_is_read() -> None:
    assert parse_json5(EXAMPLE) == {
        "unquoted": "and you can quote me on that",
        "singleQuotes": 'I can use "double quotes" here',
        "lineBreaks": "Look, Mom! No \\n's!",
        "hexadecimal": 0xDECAF,
        "leadingDecimalPoint": 0.8675309,
        "andTrailing": 8675309.0,
        "positiveSign": 1,
        "trailingComma": "in objects",
        "andIn": ["arrays"],
        "backwardsCompatible": "with JSON",
        "$é_1": None,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-0x10", -16),
        ("1e3", 1000.0),
        ("-Infinity", -math.inf),
        (r"'\x41\u00e9\ud83d\ude00\0\v\q'", "Aé😀\0\vq"),
        ("true//", True),
        ("\ufeff [] ", []),
        ("{}", {}),
        ("'it\\'s'", "it's"),
    ],
)
def test_value_and_its_type_are_parsed(text: str, value: object) -> None:
    assert parse_json5(text) == value
    assert type(parse_json5(text)) is type(value)


def test_nan_is_parsed() -> None:
    assert math.isnan(parse_json5("NaN"))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("client", 1, 1),
        ("{mode:", 1, 7),
        ("{mode:'client'} x", 1, 17),
        ("{\n  a: 1\n  b: 2\n}", 3, 3),
        ("{a: 1,\n a: 2}", 2, 2),
        ("[1 2]", 1, 4),
        ("[1,", 1, 4),
        ("'abc", 1, 5),
        ("'a\nb'", 1, 3),
        (r"'\x4'", 1, 3),
        (r"'\ud83d'", 1, 9),
        (r"'\01'", 1, 3),
        ("010", 1, 1),
        ("1x", 1, 1),
        ("{1: 2}", 1, 2),
        ("/* never ends", 1, 1),
        ("[,]", 1, 2),
        ("{a}", 1, 3),
        ("9" * 5000, 1, 1),
    ],
)
def test_error_has_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(Json5Error) as error:
        parse_json5(text)
    assert (error.value.line, error.value.column) == (line, column)


def test_depth_and_length_are_bounded() -> None:
    deepest = "[" * CONFIG_DEPTH_MAX + "]" * CONFIG_DEPTH_MAX
    parse_json5(deepest)
    with pytest.raises(Json5Error, match="within each other"):
        parse_json5(f"[[{deepest}]]")
    with pytest.raises(Json5Error, match="characters"):
        parse_json5(" " * (CONFIG_CHARACTERS_MAX + 1))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_json_is_json5(value: object) -> None:
    assert parse_json5(json.dumps(value)) == value


@given(st.text("{}[]:,'\"\\ \n/*0x1e.+-aN", max_size=30))
def test_any_text_is_a_value_or_our_error(text: str) -> None:
    with contextlib.suppress(Json5Error):
        parse_json5(text)
