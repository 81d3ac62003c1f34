"""Filters that Spark pushes down select the same rows as SQL."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)

from zenlake.lake.source.pushdown import is_asked_for, is_supported, mask

ROWS = pa.table(
    {
        "n": pa.array([1, 2, None, 4], pa.int64()),
        "t": pa.array(["a%", "b", None, "ab"], pa.string()),
        "f": pa.array([True, False, None, True], pa.bool_()),
        "d": pa.array([0.0, float("nan"), None, 1.0], pa.float64()),
        "b": pa.array([b"a", b"", None, b"b"], pa.binary()),
    }
)
N, T, F, D, B = (("n",), ("t",), ("f",), ("d",), ("b",))


@pytest.mark.parametrize(
    ("filter", "places"),
    [
        (EqualTo(N, 2), [1]),
        (Not(EqualTo(N, 2)), [0, 3]),
        (EqualTo(T, "a%"), [0]),
        (EqualTo(F, True), [0, 3]),
        (EqualNullSafe(N, 2), [1]),
        (Not(EqualNullSafe(N, 2)), [0, 2, 3]),
        (GreaterThan(N, 2), [3]),
        (GreaterThanOrEqual(N, 2), [1, 3]),
        (LessThan(T, "ab"), [0]),
        (LessThanOrEqual(T, "ab"), [0, 3]),
        (In(N, (1, 4)), [0, 3]),
        (Not(In(N, (1, 4))), [1]),
        (In(T, ("b",)), [1]),
        (IsNull(B), [2]),
        (IsNotNull(D), [0, 1, 3]),
        (Not(IsNotNull(D)), [2]),
        (StringStartsWith(T, "a"), [0, 3]),
        (Not(StringStartsWith(T, "a")), [1]),
        (StringEndsWith(T, "b"), [1, 3]),
        (StringContains(T, "%"), [0]),
    ],
    ids=str,
)
def test_filter_selects_the_expected_rows(filter: Filter, places: list[int]) -> None:
    assert is_supported(filter, ROWS.schema)
    found = mask(ROWS, filter).to_pylist()
    assert [place for place, passes in enumerate(found) if passes] == places


@pytest.mark.parametrize(
    "filter",
    [
        EqualTo(D, 1.0),
        GreaterThan(D, 0.5),
        EqualTo(B, b"a"),
        EqualTo(N, None),
        EqualTo(("x",), 1),
        EqualTo(("n", "m"), 1),
        In(N, (1, None)),
        Not(In(N, (1, None))),
        EqualTo(N, "1"),
        EqualTo(N, True),
        StringContains(N, "1"),
        EqualNullSafe(N, None),
    ],
    ids=str,
)
def test_unsupported_filters_are_left_to_spark(filter: Filter) -> None:
    assert not is_supported(filter, ROWS.schema)


def test_filters_are_not_pushed_in_this_process() -> None:
    assert not is_asked_for()
