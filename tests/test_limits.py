"""Every limit has a row in the table, and a test that imports its name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from zenlake import limits
from zenlake.limits import LIMITS, Limit

TESTS = Path(__file__).parent


@cache
def words_of_tests() -> set[str]:
    return {
        word for path in TESTS.rglob("test_*.py") for word in re.findall(r"\w+", path.read_text())
    }


def test_every_limit_has_one_row_and_one_key() -> None:
    constants = {name for name in vars(limits) if name.endswith("_MAX")}
    assert sorted(limit.name for limit in LIMITS) == sorted(constants)
    assert len({limit.key for limit in LIMITS}) == len(LIMITS)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_row_has_the_value_in_force(limit: Limit) -> None:
    assert limit.value == getattr(limits, limit.name)
    assert limit.value > 0
    assert limit.why


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_some_test_imports_the_limit(limit: Limit) -> None:
    assert limit.name in words_of_tests()
