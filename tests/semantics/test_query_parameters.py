"""Query parameters that Zenoh defines: one rule for Python and, as a pattern, for SQL."""

from __future__ import annotations

import re

import duckdb
import pytest

from tests.chance import seeded
from zenlake.keyexpr import Parameters
from zenlake.semantics.query_parameters import (
    ANY_KEY,
    TIME_RANGE,
    accepts_any_key,
    has_parameter,
    parameter_pattern,
)

CASES = 2_000


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", False),
        ("_anyke", True),
        ("_anyke=1", True),
        ("a=1;_anyke", True),
        ("_anyke;a", True),
        ("_anyke|", True),
        ("_anyke=;|", True),
        ("_anykey", False),
        ("x_anyke", False),
        ("a=_anyke", False),
        ("_anyke|;a", False),
    ],
)
def test_any_key_is_a_name_of_its_own(parameters: str, expected: bool) -> None:
    assert accepts_any_key(parameters) is expected


def test_pattern_and_parameters_agree() -> None:
    chance = seeded()
    pieces = ["_anyke", "_time", ";", "=", "|", "a", "_"]
    texts = ["".join(chance.choices(pieces, k=chance.randrange(9))) for _ in range(CASES)]
    for name in (ANY_KEY, TIME_RANGE):
        pattern = parameter_pattern(name)
        rows = duckdb.execute(
            "SELECT regexp_matches(text, ?) FROM (SELECT unnest(?) AS text)", [pattern, texts]
        ).fetchall()
        for text, (matches,) in zip(texts, rows, strict=True):
            expected = name in Parameters(text)
            assert has_parameter(text, name) is expected, text
            assert (re.search(pattern, text) is not None) is expected, text
            assert matches is expected, text
